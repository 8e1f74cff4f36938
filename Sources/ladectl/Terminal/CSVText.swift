/// Fields as CSV (RFC 4180), with the line ends of this system.
enum CSVText {
  /// One record, with quotes where a field needs them. An empty text is quoted, so that it differs from a missing one.
  static func line(_ fields: [String?]) -> String {
    fields.map { field in
      guard let field else { return "" }
      let needsQuotes =
        field.isEmpty || field.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
      return needsQuotes ? "\"" + field.replacing("\"", with: "\"\"") + "\"" : field
    }.joined(separator: ",") + "\n"
  }
}
