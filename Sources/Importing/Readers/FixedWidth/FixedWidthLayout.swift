/// Where the columns of a fixed-width file are.
///
/// `[{"name": "id", "width": 5}, {"name": "name", "start": 8, "end": 27}]` is a column of the first five characters,
/// a gap of two characters, and a column of twenty. Columns may leave gaps and overlap.
package struct FixedWidthLayout: Codable, Sendable, Hashable {
  /// One column: by its width, after the column before it, or by a range.
  package struct Column: Codable, Sendable, Hashable {
    /// The column's name.
    package var name: String
    /// How wide it is; nil if its end says so.
    package var width: Int?
    /// Its first place in the line, counted from 1; nil: the one after the column before it.
    package var start: Int?
    /// Its last place in the line, counted from 1; nil if its width says so.
    package var end: Int?

    /// A column of these parts.
    package init(_ name: String, width: Int? = nil, start: Int? = nil, end: Int? = nil) {
      self.name = name
      self.width = width
      self.start = start
      self.end = end
    }

    /// How a column is written in short, for messages.
    package static let shortForm =
      "write the name and its width, such as id:5, or its first and last place, such as id:1-5"

    /// A column from `id:5` or `id:1-5`; nil for any other text.
    package init?(short text: String) {
      guard let colon = text.lastIndex(of: ":"), colon > text.startIndex else { return nil }
      let places = text[text.index(after: colon)...].split(separator: "-", omittingEmptySubsequences: false)
      let numbers = places.compactMap { Int($0) }
      guard numbers.count == places.count, (1...2).contains(numbers.count) else { return nil }
      let name = String(text[..<colon])
      if numbers.count == 1 {
        self.init(name, width: numbers[0])
      } else {
        self.init(name, start: numbers[0], end: numbers[1])
      }
    }
  }

  /// The unit of places in a line.
  package enum Unit: String, Codable, Sendable, CaseIterable {
    /// A Unicode scalar, as in a slice of a Python string: `é` is one, or two if it is written with a combining accent.
    case characters
    /// A byte of UTF-8: `é` is two or three.
    case bytes
  }

  /// The columns.
  package var columns: [Column]
  /// What widths and places count.
  package var unit: Unit
  /// Whether spaces and tabs around a value are dropped. A column of nothing else is empty either way.
  package var trims: Bool
  /// Whether a line may end before its columns do, as when trailing spaces were cut off; missing columns are empty.
  /// Otherwise such a line is a `RecordProblem.lineTooShort`.
  package var allowsShortLines: Bool

  /// A layout of these parts.
  package init(columns: [Column], unit: Unit = .characters, trims: Bool = true, allowsShortLines: Bool = false) {
    self.columns = columns
    self.unit = unit
    self.trims = trims
    self.allowsShortLines = allowsShortLines
  }

  /// Reads a layout; everything but the columns may be missing.
  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(columns: try values.decode([Column].self, forKey: .columns))
    unit = try values.decodeIfPresent(Unit.self, forKey: .unit) ?? unit
    trims = try values.decodeIfPresent(Bool.self, forKey: .trims) ?? trims
    allowsShortLines = try values.decodeIfPresent(Bool.self, forKey: .allowsShortLines) ?? allowsShortLines
  }

  /// Refuses columns whose place is missing or impossible.
  func validate() throws(ReaderError) {
    guard !columns.isEmpty else { throw .invalidOption(name: "fields", reason: "it has no columns") }
    try ReaderOptions.check(names: columns.map(\.name))
    _ = try places()
  }

  /// The places of each column, counted from 0.
  func places() throws(ReaderError) -> [Range<Int>] {
    var places: [Range<Int>] = []
    for column in columns {
      let first = column.start.map { $0 - 1 } ?? places.last?.upperBound ?? 0
      let limit = 1 << 30
      func fault(_ reason: String) -> ReaderError {
        .invalidOption(name: "fields", reason: "the column “\(column.name)” \(reason)")
      }
      guard (0..<limit).contains(first) else { throw fault("begins before the first place, which is 1") }
      let last: Int
      switch (column.width, column.end) {
      case (let width?, nil):
        guard (1...limit).contains(width) else { throw fault("has a width of \(width)") }
        last = first + width
      case (nil, let end?):
        guard end > first, end <= limit else { throw fault("ends before it begins") }
        last = end
      case (.some, .some): throw fault("has both a width and an end")
      case (nil, nil): throw fault("has neither a width nor an end")
      }
      places.append(first..<last)
    }
    return places
  }
}
