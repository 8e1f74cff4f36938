/// Rows of text in aligned columns.
enum TextColumns {
  /// The rows as lines: each column as wide as its widest cell, two spaces between columns, no trailing spaces.
  ///
  /// Control characters in a cell become spaces, so that a name in a file can't control the terminal.
  static func aligned(_ rows: [[String]], indent: Int) -> [String] {
    let rows = rows.map { $0.map(withoutControls) }
    var widths: [Int] = []
    for row in rows {
      for (column, cell) in row.enumerated() {
        if column == widths.count { widths.append(0) }
        widths[column] = max(widths[column], cell.count)
      }
    }
    return rows.map { row in
      var line = String(repeating: " ", count: indent)
      for (column, cell) in row.enumerated() {
        line += cell + String(repeating: " ", count: widths[column] - cell.count + 2)
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }

  private static func withoutControls(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
  }
}
