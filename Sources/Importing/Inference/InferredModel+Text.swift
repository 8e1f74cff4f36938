extension InferredModel {
  /// The model for a person to read: each entity with a table of its columns.
  package var text: String {
    var lines: [String] = []
    for entity in entities { lines += entity.lines + [""] }
    if entities.count > 1 { lines += ["Order of import: \(order.joined(separator: ", "))"] }
    lines += notes.map { "note: \($0)" }
    if lines.last == "" { lines.removeLast() }
    return lines.map(SourceText.shown).joined(separator: "\n") + "\n"
  }
}

/// Text from files, fit for a terminal.
private enum SourceText {
  /// Without control sequences.
  static func shown(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isSteering) else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.map { isSteering($0) ? "\u{FFFD}" : $0 }))
  }

  private static func isSteering(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}

extension InferredModel.Entity {
  fileprivate var lines: [String] {
    var lines = ["\(name)  (\(file), \(records) record\(records == 1 ? "" : "s"))"]
    lines.append("  key: \(key.isEmpty ? "none" : key.joined(separator: " + "))")
    var rows = [["column", "becomes", "type", "nulls", "distinct", "range", "reference", "examples"]]
    rows += columns.map(\.row)
    lines += Self.aligned(rows)
    for column in columns { lines += column.notes.map { "  \(column.name): \($0)" } }
    lines += notes.map { "  note: \($0)" }
    return lines
  }

  private static func aligned(_ rows: [[String]]) -> [String] {
    var widths: [Int] = Array(repeating: 0, count: rows.first?.count ?? 0)
    for row in rows { for (index, cell) in row.enumerated() { widths[index] = max(widths[index], cell.count) } }
    return rows.map { row in
      var line = " "
      // A column that is empty in all rows but the heading is left out.
      for (index, cell) in row.enumerated() where rows.dropFirst().contains(where: { !$0[index].isEmpty }) {
        line += " " + cell + String(repeating: " ", count: widths[index] - cell.count + 1)
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}

extension InferredModel.Column {
  fileprivate var row: [String] {
    let becomes = [attribute, reference?.relationship].compactMap { $0 }.joined(separator: ", ")
    let range = minimum.flatMap { least in maximum.map { least == $0 ? "\(least)" : "\(least) to \($0)" } }
    return [
      name, becomes.isEmpty ? "-" : becomes, type + (dateFormat.map { " \($0)" } ?? ""), "\(nulls)",
      distinct.map(String.init) ?? "many", range ?? "",
      reference.map { "\($0.entity).\($0.column), \($0.matched) matched" } ?? "",
      examples.map { $0.replacingNewlines }.joined(separator: " | "),
    ]
  }
}

extension String {
  fileprivate var replacingNewlines: String { String(map { $0.isNewline || $0 == "\t" ? " " : $0 }) }
}
