import ControlAPI
import FoundationEssentials

extension ObjectPage {
  /// The rows as an aligned table, with numbers right-aligned.
  var table: TextTable {
    TextTable(
      columns: columns.indices.map { index in
        let isNumber =
          rows.contains { $0.indices.contains(index) && $0[index].isNumber }
          && rows.allSatisfy { $0.indices.contains(index) && ($0[index].isNumber || $0[index] == .null) }
        return .init(columns[index].printable, isNumber ? .right : .left)
      },
      rows: rows.map { row in columns.indices.map { .init(row.indices.contains($0) ? row[$0].text ?? "" : "") } })
  }

  /// The rows as CSV.
  var csvRows: String { rows.reduce(into: "") { $0 += CSVText.line($1.map(\.text)) } }

  /// The rows as JSON objects, with the columns as names, in their order.
  var objects: [String] {
    get throws {
      let names = columns.map { ColumnName($0) }
      return try rows.map { row in
        String(decoding: try WireFormat.bytes(of: RowObject(names: names, values: row)), as: UTF8.self)
      }
    }
  }

  /// `objects 101 to 200; more: --offset 200`.
  /// - Parameter next: the offset of the next object, if there is one.
  static func summary(offset: Int, count: Int, next: Int?) -> String {
    let more = next.map { "; more: --offset \($0)" } ?? ""
    guard count > 0 else { return offset == 0 ? "no objects" : "no objects from offset \(offset) on" }
    if offset == 0 {
      guard next != nil else { return Quantity.count(count, "object") }
      return (count == 1 ? "the first object" : "the first \(Quantity.count(count, "object"))") + more
    }
    return "objects \(Quantity.count(offset + 1)) to \(Quantity.count(offset + count))" + more
  }
}

/// A row as a JSON object.
private struct RowObject: Encodable {
  let names: [ColumnName]
  let values: [JSONValue]

  func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: ColumnName.self)
    for (name, value) in zip(names, values) { try object.encode(value, forKey: name) }
  }
}

private struct ColumnName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// The objects that a query finds, page after page.
struct ObjectPages: Sendable {
  let client: ControlClient
  /// Its limit doesn't count.
  let query: ObjectQuery

  /// Reads pages until there are no more objects, or as many as wanted.
  /// - Parameter each: called with every page, and with one that is empty if nothing was found.
  /// - Returns: the offset of the next object, if there is one.
  func each(limit: Int?, _ each: (ObjectPage) throws -> Void) async throws -> Int? {
    var query = query
    var left = limit ?? .max
    while true {
      let wanted = min(left, ObjectQuery.maximumLimit - 1)
      // One more than wanted tells whether there are more.
      query.limit = wanted + 1
      var page = try await client.objects(query)
      let hasMore = page.rows.count > wanted
      page.rows = Array(page.rows.prefix(wanted))
      try each(page)
      left -= page.rows.count
      query.offset += page.rows.count
      if !hasMore { return nil }
      if left == 0 { return query.offset }
    }
  }

  /// All pages as one.
  func whole(limit: Int?) async throws -> ObjectPage {
    var whole: ObjectPage?
    _ = try await each(limit: limit) { page in
      if whole == nil { whole = page } else { whole?.rows += page.rows }
    }
    return whole ?? ObjectPage(entity: query.entity, columns: query.columns, rows: [])
  }
}

extension JSONValue {
  fileprivate var isNumber: Bool {
    switch self {
    case .int, .double: true
    case .null, .bool, .string, .array, .object: false
    }
  }

  /// The value as a field; empty for null.
  var shown: String { text ?? "" }

  /// The value as a field; nil for null.
  fileprivate var text: String? {
    switch self {
    case .null: nil
    case .bool(let value): value ? "true" : "false"
    case .int(let value): String(value)
    case .double(let value): String(value)
    case .string(let value): value
    case .array, .object:
      // Both arrived as JSON, so they print as JSON.
      (try? WireFormat.encode(self)).map { String(decoding: $0, as: UTF8.self) }
    }
  }
}
