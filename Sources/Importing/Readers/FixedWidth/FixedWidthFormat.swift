/// Lines with columns at fixed places.
struct FixedWidthFormat: FileFormat {
  let name = FileFormatName.fixedWidth
  let title = "fixed width"
  let endings: [String] = []
  let rejectEnding = ".txt"
  let isTabular = true

  let options: [FormatOption] =
    FormatOption.ofText + LineOptions.options + [
      Self.fieldsOption, Self.unitOption, Self.trimOption, Self.shortLinesOption,
    ]

  static let layout = FormatField<FixedWidthLayout?>(optional: "fixedWidth")

  private static let fieldsOption = FormatOption(
    "fields", changing: layout, help: "the columns: id:5 for a width, or id:1-5 for places"
  ) { (value, _, options) throws(ReaderError) in
    guard let columns = try value.fields() else { return }
    if options.fixedWidth == nil {
      options.fixedWidth = FixedWidthLayout(columns: columns)
    } else {
      options.fixedWidth?.columns = columns
    }
  }

  private static let unitOption = FormatOption(
    "field_unit", changing: layout, help: "the unit of widths: characters or bytes"
  ) { (value, _, options) throws(ReaderError) in
    let word = try value.word(among: FixedWidthLayout.Unit.allCases.map(\.rawValue))
    if let unit = word.flatMap({ FixedWidthLayout.Unit(rawValue: $0) }) { options.fixedWidth?.unit = unit }
  }

  private static let trimOption = FormatOption(
    "field_trim", changing: layout, help: "whether spaces around a value are dropped"
  ) { (value, _, options) throws(ReaderError) in
    if let flag = try value.flag() { options.fixedWidth?.trims = flag }
  }

  private static let shortLinesOption = FormatOption(
    "short_lines", changing: layout, help: "whether a line may end before its columns do"
  ) { (value, _, options) throws(ReaderError) in
    if let flag = try value.flag() { options.fixedWidth?.allowsShortLines = flag }
  }

  var access: FormatAccess {
    .text { (window, options, position) throws(ReaderError) in
      try FixedWidthReader(window: window, options: options, from: position)
    }
  }

  func validate(_ options: ReaderOptions) throws(ReaderError) {
    try LineOptions.validate(options)
    try options.fixedWidth?.validate()
    if options.format == name, options.fixedWidth == nil {
      throw .invalidOption(name: "fields", reason: "the format needs the columns, with their names and widths")
    }
  }

  func conflicts(in options: ReaderOptions, given keys: Set<String>) -> [OptionConflict] {
    guard options.fixedWidth == nil else { return [] }
    var found = ["field_unit", "field_trim", "short_lines"].filter(keys.contains).map {
      OptionConflict(key: $0, problem: "it needs `fields`, which isn't given")
    }
    if options.format == name {
      found.append(OptionConflict(key: "format", problem: "it needs the columns: add `fields: [id:5, name:20]`"))
    }
    return found
  }
}

extension FileFormatName {
  package static let fixedWidth = FileFormatName("fixed_width")
}

extension ReaderOptions {
  /// Fixed width: the columns. That format needs it.
  package var fixedWidth: FixedWidthLayout? {
    get { self[FixedWidthFormat.layout] }
    set { self[FixedWidthFormat.layout] = newValue }
  }
}

/// Rejects of a fixed-width source: its original lines, each after a line with the reason, which begins with `#lade`.
/// A first line of that kind marks the file, so that the reader skips such lines.
struct FixedWidthRejects: RejectForm {
  /// The lines before the records that the options skip.
  let skippedLines: Int
  let layout: FixedWidthLayout
  /// The places of the columns in a line.
  let places: [Range<Int>]

  var opening: [UInt8] {
    [UInt8](repeating: UInt8(ascii: "\n"), count: skippedLines) + Array("\(RejectReason.fixedWidthTitle)\n".utf8)
  }

  func record(_ rejection: Rejection) -> [UInt8] {
    var lines = Array("\(RejectReason.fixedWidthMark) \(RejectReason.attributes(rejection))\n".utf8)
    // Only the beginning of a line that was too long is known: as a line of its own it would pass for a record.
    if !rejection.isSelfContained { lines += Array("\(RejectReason.fixedWidthMark) ".utf8) }
    // A zero byte would make the whole file look binary; one byte replaces it, so that columns keep their places.
    return lines + rejection.raw.map { $0 == 0 ? UInt8(ascii: "?") : $0 } + [UInt8(ascii: "\n")]
  }
}
