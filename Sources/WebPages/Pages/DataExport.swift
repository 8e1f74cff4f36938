import ControlAPI
import ControlServer
import Hummingbird
import NIOCore

/// A table as a file. It is read in parts, one after the other, so its size costs no memory; others may write between them.
struct DataExport: Sendable {
  /// The raw values are in addresses, and are the ends of files' names.
  enum Format: String, Sendable, CaseIterable {
    case csv, jsonl

    var title: String {
      switch self {
      case .csv: "CSV"
      case .jsonl: "JSON Lines"
      }
    }

    var contentType: String {
      switch self {
      case .csv: "text/csv; charset=utf-8; header=present"
      case .jsonl: "application/jsonl; charset=utf-8"
      }
    }
  }

  /// How many objects are read at once.
  static let part = 2000

  let entity: DataEntity
  let view: DataTableView
  let format: Format

  private var columns: [String] { view.columns.isEmpty ? entity.usualColumns : view.columns }

  /// The objects after those that were read. Without an order they come by their numbers, each once whatever is saved
  /// meanwhile; in an order, by their place in it.
  /// - Parameters:
  ///   - last: the number of the last object that was read.
  ///   - done: how many were read.
  func query(after last: Int64?, done: Int) -> ObjectQuery {
    var query = ObjectQuery(
      entity: entity.name, store: entity.store.name, predicate: view.predicate.isEmpty ? nil : view.predicate,
      sort: view.sort + [SortKey(keyPath: entity.numberName, ascending: true)], limit: Self.part,
      columns: columns + (columns.contains(entity.numberName) ? [] : [entity.numberName]))
    if !view.sort.isEmpty {
      query.offset = done
      if view.sort.contains(where: { $0.keyPath == entity.numberName }) { query.sort = view.sort }
    } else if let last {
      let further = "\(entity.numberName) > \(last)"
      query.predicate = query.predicate.map { "(\($0)) AND \(further)" } ?? further
    }
    return query
  }

  /// What comes before the first object.
  var head: String { format == .csv ? Self.line(columns.map(Self.quoted)) : "" }

  func text(of page: ObjectPage) throws -> String {
    try page.rows.map { row in
      let values = row.prefix(columns.count)
      switch format {
      case .csv: return Self.line(try values.map(Self.cell))
      case .jsonl:
        let members = try zip(columns, values).map { try Self.json(.string($0)) + ":" + Self.json($1) }
        return "{" + members.joined(separator: ",") + "}\n"
      }
    }.joined()
  }

  /// The number of the last object of a page.
  func last(of page: ObjectPage) -> Int64? {
    guard let place = page.columns.firstIndex(of: entity.numberName), let row = page.rows.last,
      row.indices.contains(place), case .int(let number) = row[place]
    else { return nil }
    return number
  }

  /// The name under which a browser keeps it: of letters that need no quotes in a header (RFC 6266).
  var fileName: String {
    let letters = entity.name.unicodeScalars.map { scalar in
      scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_")
        ? Character(scalar) : "-"
    }
    return String(letters) + "." + format.rawValue
  }

  // MARK: CSV, by RFC 4180

  private static func line(_ cells: [String]) -> String { cells.joined(separator: ",") + "\r\n" }

  /// Null is nothing between commas; a text without characters has quotes.
  private static func cell(_ value: JSONValue) throws -> String {
    switch value {
    case .null: ""
    case .string(let text): quoted(text)
    case .bool, .int, .double, .array, .object: quoted(try json(value))
    }
  }

  private static func quoted(_ text: String) -> String {
    let needsQuotes =
      text.isEmpty || text.utf8.contains { [UInt8(ascii: ","), UInt8(ascii: "\""), 13, 10].contains($0) }
    return needsQuotes ? "\"" + text.replacing("\"", with: "\"\"") + "\"" : text
  }

  private static func json(_ value: JSONValue) throws -> String {
    String(decoding: try WireFormat.bytes(of: value), as: UTF8.self)
  }
}

extension PageRoutes {
  /// A table as a file, and as a stream of what happens to it.
  func addDataStreams(to router: Router<ControlContext>) {
    for format in DataExport.Format.allCases {
      router.get(RouterPath("/data/{store}/{entity}/\(format.rawValue)")) { request, context in
        try await export(visit(request, context), format)
      }
    }
    router.get("/data/{store}/{entity}/events") { request, context in
      try await tableEvents(visit(request, context))
    }
  }

  private func export(_ visit: Visit, _ format: DataExport.Format) async throws -> Response {
    let view = try DataTableView(parsing: visit.request.uri.query ?? "")
    let export = DataExport(entity: try await dataEntity(visit), view: view, format: format)
    // What is wrong with the query is found before anything is sent.
    let first = try await backend.objects(export.query(after: nil, done: 0), by: visit.peer)
    let start = export.head + (try export.text(of: first))
    let headers: HTTPFields = [
      .contentType: format.contentType, .contentDisposition: "attachment; filename=\"\(export.fileName)\"",
    ]
    let (backend, peer, isSignedIn) = (backend, visit.peer, staysSignedIn(visit))
    return Response(
      status: .ok, headers: headers,
      body: ResponseBody { writer in
        try await writer.write(ByteBuffer(string: start))
        var page = first
        var done = page.rows.count
        // A file that ends early for an error ends without its last chunk, which browsers report.
        while page.rows.count == DataExport.part {
          guard isSignedIn() else { throw Problem.signedOut }
          page = try await backend.objects(export.query(after: export.last(of: page), done: done), by: peer)
          done += page.rows.count
          try await writer.write(ByteBuffer(string: try export.text(of: page)))
        }
        try await writer.finish(nil)
      })
  }

  /// Says, at most twice a second, that the objects of a table aren't as they were: a standing query of what it shows.
  private func tableEvents(_ visit: Visit) async throws -> Response {
    let view = try DataTableView(parsing: visit.request.uri.query ?? "")
    let entity = try await dataEntity(visit)
    guard let query = DataTablePage(entity: entity, view: view).watchQuery else {
      throw ControlError.invalid(
        field: "offset", reason: "a standing query has up to \(WatchQuery.maximumLimit) objects")
    }
    let changes = Handed(try await backend.watch(query, by: visit.peer))
    let queue = EventQueue<Bool>(capacity: 1)
    let isSignedIn = staysSignedIn(visit)
    return EventStream(meter: meter, grace: grace).response(to: visit.request, visit.context) {
      guard let changes = changes.take() else { return true }
      for await event in changes {
        // The result is what the page has shown already.
        if case .result = event { continue }
        queue.put(true, replacing: 0)
      }
      if !Task.isCancelled { queue.finish() }
      return true
    } write: { writer in
      while await queue.take() != nil, isSignedIn() {
        try await writer.send(ServerSentEvent(name: "changed", data: "{}"))
        try await Task.sleep(for: .milliseconds(500))
      }
    } stop: {
      queue.close()
    }
  }
}
