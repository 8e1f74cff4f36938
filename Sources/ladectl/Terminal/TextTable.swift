import ControlAPI
import FoundationEssentials

/// A table of aligned columns under headings, two spaces apart.
///
/// If the width is limited, the widest columns shrink first and are truncated with `…`; if there isn't room for a character per
/// column, the last columns are dropped. Without a limit nothing is truncated.
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

  /// The table's lines, headings first; each ends in a newline without trailing spaces.
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
    // The maximum width of a column, found from the narrowest column up: unused width is shared by the rest.
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
      // Padding stays outside the colour, and lines have no trailing spaces.
      let spaces = String(repeating: " ", count: max(0, widths[index] - shown.displayWidth))
      text += right ? spaces + style(shown, cell.ink) : style(shown, cell.ink) + (isLast ? "" : spaces)
      if !isLast { text += String(repeating: " ", count: Self.gap) }
    }
    while text.last == " " { text.removeLast() }
    return text + "\n"
  }
}

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

/// Values as JSON for people and for `jq`: indented, with sorted keys.
enum JSONText {
  /// A value on one line, for streams; also with sorted keys.
  static func line(_ value: some Encodable) throws -> String {
    String(decoding: try WireFormat.encode(value, sorted: true), as: UTF8.self) + "\n"
  }

  static func of(_ value: some Encodable) throws -> String {
    String(decoding: try WireFormat.encode(value, pretty: true), as: UTF8.self) + "\n"
  }
}
