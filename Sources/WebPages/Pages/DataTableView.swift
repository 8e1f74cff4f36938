import ControlAPI
import LadeTypes

/// Which objects of an entity a table shows, and how. All of it is in the address.
struct DataTableView: Sendable, Hashable {
  /// How many objects a page has.
  static let pageSize = 50
  /// How many properties can have their values counted: each is a query.
  private static let mostFacets = 8
  private static let furthest: Int64 = 1_000_000_000_000

  /// The predicate as it was typed; empty for all objects.
  var predicate = ""
  var sort: [SortKey] = []
  /// The key paths that were chosen; empty for the usual ones.
  var columns: [String] = []
  /// The properties by which objects are counted beside the usual ones.
  var facets: [String] = []
  /// How many objects come before the page.
  var offset = 0
  /// Whether those that match are counted, which may take long.
  var isCounted = false
  /// Whether the boxes of a form chose the columns.
  private(set) var isOfForm = false

  init() {}

  /// Reads `where`, `sort`, `columns`, `offset`, `count` and `facet`, and `column` for each box of the form that is checked.
  /// - Throws: ``QueryError``.
  init(parsing text: String) throws {
    var query = QueryString()
    var chosen: [String] = []
    for item in text.split(separator: "&") {
      let pair = try QueryString(parsing: String(item))
      for name in pair.names {
        if name == "column" {
          chosen.append(pair[name] ?? "")
        } else if query[name] != nil {
          throw QueryError.repeated(name: name)
        } else {
          query[name] = pair[name]
        }
      }
    }
    try query.refuseNames(otherThan: ["where", "sort", "columns", "offset", "count", "facet"])
    predicate = Self.trimmed(query["where"] ?? "")
    sort = try query.list("sort").map(SortKey.init)
    isOfForm = !chosen.isEmpty
    for column in isOfForm ? chosen : query.list("columns") where !columns.contains(column) { columns.append(column) }
    for facet in query.list("facet") where !facets.contains(facet) { facets.append(facet) }
    guard facets.count <= Self.mostFacets else {
      throw QueryError.invalid(
        name: "facet", value: facets.joined(separator: ","), expected: "at most \(Self.mostFacets) properties")
    }
    offset = Int(try query.integer("offset", in: 0...Self.furthest) ?? 0)
    isCounted = try query.flag("count") ?? false
  }

  private static func trimmed(_ text: String) -> String {
    let start = text.drop { $0.isWhitespace }
    guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(start[...last])
  }

  var query: QueryString {
    var query = QueryString()
    query["where"] = predicate.isEmpty ? nil : predicate
    query["sort"] = sortText
    query["columns"] = columns.isEmpty ? nil : columns.joined(separator: ",")
    query["offset"] = offset == 0 ? nil : String(offset)
    query["facet"] = facets.isEmpty ? nil : facets.joined(separator: ",")
    query["count"] = isCounted ? "true" : nil
    return query
  }

  /// The sort keys as they are in the address; nil without any.
  var sortText: String? { sort.isEmpty ? nil : sort.map(\.text).joined(separator: ",") }

  /// The same view with a change, from its first page.
  func with(_ change: (inout DataTableView) -> Void) -> DataTableView {
    var view = self
    view.offset = 0
    change(&view)
    return view
  }

  /// The view after a click on a column's head: sorted by it, or the other way round.
  func sorted(by keyPath: String) -> DataTableView {
    with { view in
      let isAscending = view.sort.first?.keyPath == keyPath && view.sort.first?.ascending == true
      view.sort = [SortKey(keyPath: keyPath, ascending: !isAscending)]
    }
  }

  /// The view of those of its objects for which a further predicate is true.
  func narrowed(by further: String) -> DataTableView {
    with { $0.predicate = predicate.isEmpty || predicate == further ? further : "(\(predicate)) AND \(further)" }
  }
}
