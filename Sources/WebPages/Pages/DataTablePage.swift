import ControlAPI
import LadeTypes

/// Objects of an entity as a table, with a predicate, an order and columns.
struct DataTablePage {
  /// A column that is shown.
  private struct Column {
    let keyPath: String
    let end: DataEntity.End
    /// The column with the numbers of the objects that it leads to.
    let numberColumn: String?
    private let isNumber: Bool

    init(_ keyPath: String, of entity: DataEntity) {
      self.keyPath = keyPath
      end = entity.end(of: keyPath)
      numberColumn = entity.numberColumn(of: keyPath)
      isNumber = keyPath == entity.numberName
    }

    var style: Attribute? { isNumeric ? .style("number") : nil }

    var isSortable: Bool {
      if case .attribute(let attribute) = end { return attribute.isSortable }
      return end == .count || isNumber
    }

    private var isNumeric: Bool {
      if case .attribute(let attribute) = end { return attribute.isNumber }
      return end == .count || isNumber
    }
  }

  let entity: DataEntity
  let view: DataTableView
  /// Nil where the query was refused.
  var objects: DataRows?
  /// How many objects match, where they were counted.
  var matching: Int?
  var mistake: Problem?
  var facets: [DataFacet] = []
  /// Whether new objects are made from here.
  var mayEdit = false

  init(entity: DataEntity, view: DataTableView) {
    self.entity = entity
    self.view = view
  }

  private var columns: [String] { view.columns.isEmpty ? entity.usualColumns : view.columns }

  /// What is asked for: the columns, the numbers by which links lead to objects, and one object more, which says
  /// whether there is a next page.
  var query: ObjectQuery {
    var asked = [entity.numberName]
    for column in columns + columns.compactMap(entity.numberColumn(of:)) where !asked.contains(column) {
      asked.append(column)
    }
    return ObjectQuery(
      entity: entity.name, store: entity.store.name, predicate: view.predicate.isEmpty ? nil : view.predicate,
      sort: view.sort, limit: DataTableView.pageSize + 1, offset: view.offset, columns: asked)
  }

  /// A standing query of what the page shows; nil where it can't be one, and the page is fetched again now and then.
  var watchQuery: WatchQuery? {
    let last = view.offset + DataTableView.pageSize + 1
    let followed = columns.filter { entity.end(of: $0) != .count }
    guard last <= WatchQuery.maximumLimit, !followed.isEmpty else { return nil }
    return WatchQuery(
      entity: entity.name, store: entity.store.name, predicate: view.predicate.isEmpty ? nil : view.predicate,
      sort: view.sort, limit: last, columns: followed)
  }

  private var events: Page.Events? {
    guard objects != nil, watchQuery != nil else { return nil }
    return .stream(.tableEvents(entity.store.name, entity.name, view.query))
  }

  private func link(_ view: DataTableView) -> PageLink { .objects(entity.store.name, entity.name, view.query) }

  var page: Page {
    Page(entity.name, .data, events: events) {
      HTML.element("p") {
        HTML.element("a", .link(.data)) { "Data" }
        ", store "
        HTML.name(entity.store.name)
      }
      DataTableForm(entity: entity, view: view).form
      if let mistake {
        HTML.element("div", .id("mistake"), .other("role", "alert"), .style("problem")) {
          HTML.element("p") { HTML.name(mistake.detail) }
          mistake.hint.map { hint in HTML.element("p", .style("note")) { HTML.name(hint) } }
        }
      }
      if let objects {
        DataFacets(entity: entity, view: view, facets: facets).content
        HTML.element("div", .id("objects"), .live) {
          summary(objects)
          if !objects.isEmpty { table(objects) }
          HTML.element("nav", .label("Pages of the table"), .style("paging")) { paging(objects) }
        }
        files
      }
    }
  }

  /// The table as a file, and a new object.
  private var files: HTML {
    HTML.element("p") {
      "All of them as "
      for (place, format) in DataExport.Format.allCases.enumerated() {
        if place > 0 { " or " }
        HTML.element("a", .link(.export(entity.store.name, entity.name, view.with { _ in }.query, format))) {
          format.title
        }
      }
      if !entity.entity.isAbstract {
        " "
        if mayEdit { HTML.button("New \(entity.name)", .newObject(entity.store.name, entity.name)) }
      }
    }
  }

  /// Which of how many objects are shown.
  private func summary(_ objects: DataRows) -> HTML {
    let shown = min(objects.count, DataTableView.pageSize)
    let isLast = objects.count <= DataTableView.pageSize && (shown > 0 || view.offset == 0)
    let total = matching ?? objects.matching ?? (isLast ? view.offset + shown : nil)
    return HTML.element("p", .other("role", "status")) {
      if shown > 0 {
        "Objects \(Quantity.count(view.offset + 1)) to \(Quantity.count(view.offset + shown))"
        if let total { " of \(Quantity.count(total))" }
        "."
      } else {
        view.offset > 0 ? "There are no more." : view.predicate.isEmpty ? "There are none." : "No object matches."
      }
      if total == nil {
        " "
        HTML.element("a", .link(link(view.with { $0.isCounted = true }))) { "Count all that match" }
      }
    }
  }

  private func table(_ objects: DataRows) -> HTML {
    let number = Column(entity.numberName, of: entity)
    let columns = columns.map { Column($0, of: entity) }
    return HTML.table(
      "Objects of \(entity.name)", columns: [head(number, title: "Number")] + columns.map { head($0) },
      rows: (0..<min(objects.count, DataTableView.pageSize)).map { row($0, columns, of: objects) })
  }

  /// A column's head. It is a link that sorts, and the other way round where the table is sorted so.
  private func head(_ column: Column, title: String? = nil) -> HTML {
    let title = HTML.name(title ?? column.keyPath)
    return HTML.element("th", .other("scope", "col"), column.style, order(of: column)) {
      if column.isSortable {
        HTML.element("a", .link(link(view.sorted(by: column.keyPath)))) { title }
      } else {
        title
      }
    }
  }

  private func order(of column: Column) -> Attribute? {
    guard let first = view.sort.first, first.keyPath == column.keyPath else { return nil }
    return first.ascending ? .other("aria-sort", "ascending") : .other("aria-sort", "descending")
  }

  private func row(_ row: Int, _ columns: [Column], of objects: DataRows) -> HTML {
    HTML.element("tr", objects.number(entity.numberName, ofRow: row).map { .id("object-\($0)") }) {
      HTML.element("th", .other("scope", "row"), .style("number")) {
        if let number = objects.number(entity.numberName, ofRow: row) {
          HTML.element("a", .link(.object(entity.store.name, entity.name, number))) { "\(number)" }
        } else {
          "–"
        }
      }
      for column in columns {
        HTML.element("td", column.style) { cell(column, row, of: objects) }
      }
    }
  }

  private func cell(_ column: Column, _ row: Int, of objects: DataRows) -> HTML {
    let value = objects.value(column.keyPath, ofRow: row)
    switch column.end {
    case .attribute(let attribute): return DataValue(value, of: attribute).short
    case .relationship(let relationship):
      guard let key = column.numberColumn, let number = objects.number(key, ofRow: row) else {
        return DataValue(value).short
      }
      let title = value == .null ? HTML("\(number)") : DataValue(value).short
      return HTML.element("a", .link(.object(entity.store.name, relationship.entity, number))) { title }
    case .count, .unknown: return DataValue(value).short
    }
  }

  @HTMLBuilder
  private func paging(_ objects: DataRows) -> HTML {
    if view.offset > 0 {
      HTML.button("First page", link(view.with { _ in }))
      HTML.button(
        "Previous page", link(view.with { $0.offset = max(view.offset - DataTableView.pageSize, 0) }))
    }
    if objects.count > DataTableView.pageSize {
      HTML.button("Next page", link(view.with { $0.offset = view.offset + DataTableView.pageSize }))
    }
  }
}
