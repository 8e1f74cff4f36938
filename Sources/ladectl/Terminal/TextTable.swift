import ControlAPI
import FoundationEssentials

/// A table of aligned columns under headings, two spaces apart.
///
/// If the width is limited, columns give way in this order:
///
/// 1. columns with a rank are dropped, the lowest rank first, until the others fit with their least widths;
/// 2. columns that may be cut shrink, the widest first, and `…` marks the cut;
/// 3. if that isn't enough, the last columns are dropped.
///
/// Numbers are never cut: a number without its end is another number. Without a limit nothing is cut or dropped.
struct TextTable: Sendable {
  enum Alignment: Sendable {
    case left
    case right
  }

  /// What may be cut from a cell.
  enum Cut: Sendable {
    case nothing
    case end
    /// For paths and file names, whose ends tell them apart.
    case middle
  }

  struct Column: Sendable {
    let heading: String
    let alignment: Alignment
    let cut: Cut
    /// How soon the column is dropped for want of room; nil for not before all others.
    let rank: Int?

    /// - Parameter cut: by default, the end of a text and nothing of a number.
    init(_ heading: String, _ alignment: Alignment = .left, cut: Cut? = nil, rank: Int? = nil) {
      self.heading = heading
      self.alignment = alignment
      self.cut = cut ?? (alignment == .right ? .nothing : .end)
      self.rank = rank
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
  /// The width below which a column isn't cut.
  private static let least = 8

  let columns: [Column]
  var rows: [[Cell]]

  /// The table's lines, headings first; each ends in a newline without trailing spaces.
  func rendered(width: Int?, style: Style) -> String {
    let natural = naturalWidths
    let shown = self.shown(of: natural, in: width)
    let widths = fitted(shown, natural, into: width)
    var text = line(columns.map { Cell($0.heading, .bold) }, shown, widths, style)
    for row in rows { text += line(row, shown, widths, style) }
    return text
  }

  /// The headings of the columns for which there is no room in a width.
  func dropped(at width: Int?) -> [String] {
    let shown = Set(shown(of: naturalWidths, in: width))
    return columns.indices.filter { !shown.contains($0) }.map { columns[$0].heading }
  }

  /// The least width in which no column is dropped.
  var leastWidth: Int { total(of: columns.indices.map { leastWidth(of: $0, naturalWidths) }) }

  private var naturalWidths: [Int] {
    columns.indices.map { index in
      rows.reduce(columns[index].heading.displayWidth) { max($0, $1[index].text.displayWidth) }
    }
  }

  private func leastWidth(of index: Int, _ natural: [Int]) -> Int {
    columns[index].cut == .nothing ? natural[index] : min(natural[index], Self.least)
  }

  private func total(of widths: [Int]) -> Int { widths.reduce(Self.gap * max(widths.count - 1, 0), +) }

  /// The columns that there is room for.
  private func shown(of natural: [Int], in width: Int?) -> [Int] {
    var shown = Array(columns.indices)
    guard let width else { return shown }
    while shown.count > 1, total(of: shown.map { leastWidth(of: $0, natural) }) > width {
      let place = shown.indices.min { a, b in
        (columns[shown[a]].rank ?? .max, -a) < (columns[shown[b]].rank ?? .max, -b)
      }
      shown.remove(at: place ?? shown.count - 1)
    }
    return shown
  }

  private func fitted(_ shown: [Int], _ natural: [Int], into width: Int?) -> [Int] {
    let widths = shown.map { natural[$0] }
    guard let width, total(of: widths) > width else { return widths }
    // A column that is alone gives way even if it is a number.
    if shown.count == 1 { return [max(width, 1)] }
    let flexible = shown.filter { columns[$0].cut != .nothing }
    var left = width - total(of: shown.map { flexible.contains($0) ? 0 : natural[$0] })
    // The maximum width of a column, found from the narrowest column up: unused width is shared by the rest.
    var limit = 0
    for (index, width) in flexible.map({ natural[$0] }).sorted().enumerated() {
      let share = left / (flexible.count - index)
      if width > share {
        limit = share
        break
      }
      left -= width
    }
    return shown.map { flexible.contains($0) ? min(natural[$0], max(limit, 1)) : natural[$0] }
  }

  private func line(_ cells: [Cell], _ columns: [Int], _ widths: [Int], _ style: Style) -> String {
    var text = ""
    for (index, place) in columns.enumerated() {
      let (cell, column) = (cells[place], self.columns[place])
      let shown = cell.text.truncated(to: widths[index], inTheMiddle: column.cut == .middle)
      let isLast = index == widths.count - 1
      let right = column.alignment == .right
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
