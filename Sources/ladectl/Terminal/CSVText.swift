/// Fields as CSV (RFC 4180), with the system's line endings.
enum CSVText {
  /// One record, quoting fields where needed. An empty string is quoted, to distinguish it from a missing value.
  static func line(_ fields: [String?]) -> String {
    fields.map { field in
      guard let field else { return "" }
      let needsQuotes =
        field.isEmpty || field.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
      return needsQuotes ? "\"" + field.replacing("\"", with: "\"\"") + "\"" : field
    }.joined(separator: ",") + "\n"
  }
}
