/// Comma-separated values, RFC 4180; the delimiter may be another.
struct CSVFormat: FileFormat {
  let name = FileFormatName.csv
  let title = "CSV"
  let endings = ["csv", "txt"]
  let isTabular = true
  let options = DelimitedOptions.options

  var access: FormatAccess {
    .text { (window, options, position) throws(ReaderError) in
      try CSVReader(window: window, options: options, delimiter: nil, from: position)
    }
  }

  func validate(_ options: ReaderOptions) throws(ReaderError) { try DelimitedOptions.validate(options) }

  func conflicts(in options: ReaderOptions, given keys: Set<String>) -> [OptionConflict] {
    DelimitedOptions.conflicts(in: options, given: keys)
  }
}

/// Values with tabs between them.
struct TSVFormat: FileFormat {
  let name = FileFormatName.tsv
  let title = "TSV"
  let endings = ["tsv", "tab"]
  let isTabular = true
  let options = DelimitedOptions.options

  var access: FormatAccess {
    .text { (window, options, position) throws(ReaderError) in
      try CSVReader(window: window, options: options, delimiter: UInt8(ascii: "\t"), from: position)
    }
  }

  func validate(_ options: ReaderOptions) throws(ReaderError) { try DelimitedOptions.validate(options) }

  func conflicts(in options: ReaderOptions, given keys: Set<String>) -> [OptionConflict] {
    var found = DelimitedOptions.conflicts(in: options, given: keys)
    if options.format == name, let delimiter = options.delimiter, delimiter != "\t" {
      found.append(
        OptionConflict(
          key: "delimiter", problem: "the delimiter of TSV is a tab; write `format: csv`, or remove this key"))
    }
    return found
  }
}

extension FileFormatName {
  package static let csv = FileFormatName("csv")
  package static let tsv = FileFormatName("tsv")
}

/// The options of CSV and TSV.
enum DelimitedOptions {
  static let delimiter = FormatField<String?>(optional: "delimiter")
  static let quote = FormatField<String?>(optional: "quote", default: "\"", isAlwaysStored: true)
  static let escape = FormatField<String?>(optional: "escape")
  static let tsvEscapes = FormatField("tsvEscapes", default: false)
  static let header = FormatField("header", default: true, isAlwaysStored: true)

  static let options: [FormatOption] =
    FormatOption.ofText + [delimiterOption, quoteOption, escapeOption, tsvEscapesOption] + LineOptions.options
    + [headerOption, .columns]

  private static let delimiterOption = FormatOption(
    "delimiter", delimiter, help: "the character between two fields, or tab"
  ) { value throws(ReaderError) in try value.character(orWord: "tab", meaning: "\t") }

  private static let quoteOption = FormatOption(
    "quote", quote, help: "the character around a field, or none"
  ) { value throws(ReaderError) in try value.character(orWord: "none", meaning: nil) }

  private static let escapeOption = FormatOption(
    "escape", escape, help: "the character that makes the next one text, or none"
  ) { value throws(ReaderError) in try value.character(orWord: "none", meaning: nil) }

  private static let tsvEscapesOption = FormatOption(
    "tsv_escapes", tsvEscapes, help: "whether fields are written as by PostgreSQL's COPY"
  ) { value throws(ReaderError) in try value.flag() }

  static let headerOption = FormatOption(
    "header", header, help: "whether the first line names the columns"
  ) { value throws(ReaderError) in try value.flag() }

  static func validate(_ options: ReaderOptions) throws(ReaderError) {
    let delimiter = try ReaderOptions.byte(options.delimiter, of: "delimiter")
    let quote = try ReaderOptions.byte(options.quote, of: "quote")
    let escape = try ReaderOptions.byte(options.escape, of: "escape")
    if let delimiter, delimiter == quote {
      throw .invalidOption(name: "delimiter", reason: "it is the same as the quote")
    }
    if let escape, escape == delimiter {
      throw .invalidOption(name: "escape", reason: "it is the same as the delimiter")
    }
    if options.tsvEscapes, escape != nil, escape != UInt8(ascii: "\\") {
      throw .invalidOption(name: "escape", reason: "with tsv_escapes it is the backslash")
    }
    if options.tsvEscapes, delimiter == UInt8(ascii: "\\") {
      throw .invalidOption(name: "delimiter", reason: "with tsv_escapes the backslash begins an escape")
    }
    try LineOptions.validate(options)
    if let first = options.comment?.utf8.first, first == delimiter || first == quote || first == escape {
      throw .invalidOption(name: "comment", reason: "it begins with the delimiter, the quote or the escape")
    }
  }

  static func headerConflicts(in options: ReaderOptions) -> [OptionConflict] {
    guard !options.header, options.columns == nil else { return [] }
    return [
      OptionConflict(
        key: "header", problem: "without a header line the file can't name its columns; add `columns: [a, b]`")
    ]
  }

  static func conflicts(in options: ReaderOptions, given keys: Set<String>) -> [OptionConflict] {
    var found = headerConflicts(in: options)
    if let quote = options.quote, quote == options.delimiter {
      found.append(
        OptionConflict(key: keys.contains("quote") ? "quote" : "delimiter", problem: "it is the delimiter, too"))
    }
    return found
  }
}

extension ReaderOptions {
  /// CSV: what stands between two fields, one byte; nil: whichever of `,` `;` tab `|` the first line has most of.
  package var delimiter: String? {
    get { self[DelimitedOptions.delimiter] }
    set { self[DelimitedOptions.delimiter] = newValue }
  }

  /// CSV: what stands around a field, one byte; nil: nothing does, quotes are ordinary text.
  package var quote: String? {
    get { self[DelimitedOptions.quote] }
    set { self[DelimitedOptions.quote] = newValue }
  }

  /// CSV: a byte, usually the backslash, that makes the byte after it text, inside quotes and outside: a delimiter, a quote,
  /// a line end or itself. Quotes may be doubled all the same. An escape equal to the quote changes nothing.
  /// Source: `escapechar` of Python's csv.
  package var escape: String? {
    get { self[DelimitedOptions.escape] }
    set { self[DelimitedOptions.escape] = newValue }
  }

  /// CSV and TSV: whether fields are written as PostgreSQL's `COPY` and MySQL's `SELECT INTO OUTFILE` write them:
  /// never quoted, `\t` `\n` `\r` `\b` `\f` `\v` with their meaning in C, a backslash before any other byte is
  /// dropped, and a field that is `\N` is null.
  package var tsvEscapes: Bool {
    get { self[DelimitedOptions.tsvEscapes] }
    set { self[DelimitedOptions.tsvEscapes] = newValue }
  }

  /// CSV and TSV: whether the first line names the columns.
  package var header: Bool {
    get { self[DelimitedOptions.header] }
    set { self[DelimitedOptions.header] = newValue }
  }

  /// Options of these parts.
  package init(
    format: FileFormatName? = nil, delimiter: String? = nil, quote: String? = "\"", header: Bool = true,
    columns: [String]? = nil, root: String? = nil, maximumRecordBytes: Int = 16 << 20, member: String? = nil,
    encoding: TextEncoding? = nil, fallbackEncoding: TextEncoding? = nil, maximumExpansion: Int = 250,
    maximumUnpackedBytes: Int64 = 1 << 40
  ) {
    self.init()
    self.format = format
    self.delimiter = delimiter
    self.quote = quote
    self.header = header
    self.columns = columns
    self.root = root
    self.maximumRecordBytes = maximumRecordBytes
    self.member = member
    self.encoding = encoding
    self.fallbackEncoding = fallbackEncoding
    self.maximumExpansion = maximumExpansion
    self.maximumUnpackedBytes = maximumUnpackedBytes
  }
}
