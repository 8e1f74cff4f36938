/// How a source is written.
package enum SourceFormat: String, Codable, Sendable, CaseIterable {
  /// Comma-separated values, RFC 4180; the delimiter may be another.
  case csv
  /// The same with tabs.
  case tsv
  /// Lines with columns at fixed places.
  case fixedWidth = "fixed_width"
  /// One JSON document, RFC 8259, with an array of objects in it.
  case json
  /// A JSON object a line.
  case ndjson
  /// An XML 1.0 document, with elements that are records.
  case xml
  /// A property list, in XML or binary, with an array of dictionaries in it.
  case plist
  /// A SQLite database: a table of it, or a query.
  case sqlite

  /// The format that a file name ends in, whatever the case; nil if the ending says nothing.
  package init?(fileName: String) {
    guard let dot = fileName.lastIndex(of: ".") else { return nil }
    switch fileName[fileName.index(after: dot)...].lowercased() {
    case "csv", "txt": self = .csv
    case "tsv", "tab": self = .tsv
    case "json": self = .json
    case "ndjson", "jsonl": self = .ndjson
    case "xml": self = .xml
    case "plist": self = .plist
    case "sqlite", "sqlite3", "db", "sqlitedb": self = .sqlite
    default: return nil
    }
  }
}
