/// Columns under headings, aligned, two spaces apart.
///
/// Where the lines have a limit, the widest columns give way first and are cut with `…`, and the last columns are left out
/// where there isn't a character for each; without a limit nothing is cut.
struct TextTable: Sendable {
  enum Alignment: Sendable {
    case left
    case right
  }

  struct Column: Sendable {
    let heading: String
    let alignment: Alignment

    init(_ heading: String, _ alignment: Alignment = .left) {
      self.heading = heading
      self.alignment = alignment
    }
  }

  struct Cell: Sendable, ExpressibleByStringInterpolation {
    let text: String
    let ink: Style.Ink?

    init(_ text: String, _ ink: Style.Ink? = nil) {
      self.text = text.printable
      self.ink = ink
    }

    init(stringLiteral value: String) { self.init(value) }
  }

  /// Spaces between two columns.
  private static let gap = 2

  let columns: [Column]
  var rows: [[Cell]]

  /// The table's lines, the headings first; each line ends in a newline and has no spaces before it.
  func rendered(width: Int?, style: Style) -> String {
    let shown = width.map { min(columns.count, max(($0 + Self.gap) / (1 + Self.gap), 1)) } ?? columns.count
    let widths = fitted(Array(naturalWidths.prefix(shown)), into: width)
    var text = line(columns.map { Cell($0.heading, .bold) }, widths, style)
    for row in rows { text += line(row, widths, style) }
    return text
  }

  private var naturalWidths: [Int] {
    columns.indices.map { index in
      rows.reduce(columns[index].heading.displayWidth) { max($0, $1[index].text.displayWidth) }
    }
  }

  private func fitted(_ natural: [Int], into width: Int?) -> [Int] {
    guard let width else { return natural }
    let room = max(width - Self.gap * (natural.count - 1), natural.count)
    guard natural.reduce(0, +) > room else { return natural }
    // The greatest width that no column may pass, found from the narrowest column on: what those don't use is shared.
    var left = room
    var limit = 0
    for (index, width) in natural.sorted().enumerated() {
      let share = left / (natural.count - index)
      if width > share {
        limit = share
        break
      }
      left -= width
    }
    return natural.map { min($0, max(limit, 1)) }
  }

  private func line(_ cells: [Cell], _ widths: [Int], _ style: Style) -> String {
    var text = ""
    for (index, cell) in cells.prefix(widths.count).enumerated() {
      let shown = cell.text.truncated(to: widths[index])
      let isLast = index == widths.count - 1
      let right = columns[index].alignment == .right
      // Spaces stay outside the ink, and none at a line's end.
      let spaces = String(repeating: " ", count: max(0, widths[index] - shown.displayWidth))
      text += right ? spaces + style(shown, cell.ink) : style(shown, cell.ink) + (isLast ? "" : spaces)
      if !isLast { text += String(repeating: " ", count: Self.gap) }
    }
    while text.last == " " { text.removeLast() }
    return text + "\n"
  }
}
