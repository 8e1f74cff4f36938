/// Columns of text for a terminal: the first is aligned left, the others right.
package struct TextSet: Sendable, CustomStringConvertible {
  private var rows: [[String]]

  /// A table without rows. The number of headings is that of its columns.
  package init(headings: [String]) {
    rows = [headings]
  }

  /// Adds a row; a cell too few is empty, one too many is left out.
  package mutating func append(_ cells: [String]) {
    rows.append(cells)
  }

  /// The lines, without one at the end.
  package var description: String {
    let columns = rows[0].indices
    let widths = columns.map { column in rows.map { cell($0, column).count }.max() ?? 0 }
    return rows.map { row in
      columns.map { column in
        let text = cell(row, column)
        let padding = String(repeating: " ", count: widths[column] - text.count)
        return column == 0 ? text + padding : padding + text
      }.joined(separator: "   ")
    }.joined(separator: "\n")
  }

  private func cell(_ row: [String], _ column: Int) -> String {
    row.indices.contains(column) ? row[column] : ""
  }
}
