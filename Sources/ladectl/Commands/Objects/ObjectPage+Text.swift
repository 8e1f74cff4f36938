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

  /// The rows as CSV with a header.
  var csv: String {
    rows.reduce(into: CSVText.line(columns)) { $0 += CSVText.line($1.map(\.text)) }
  }

  /// `rows 101 to 200 of 1,234`.
  func summary(offset: Int) -> String {
    let total = count.map { " of \(Quantity.count($0))" } ?? ""
    guard !rows.isEmpty else { return "no objects\(total)\n" }
    if offset == 0, count == rows.count { return Quantity.count(rows.count, "object") + "\n" }
    return "objects \(Quantity.count(offset + 1)) to \(Quantity.count(offset + rows.count))\(total)\n"
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
