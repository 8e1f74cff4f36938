/// How to read a source. The defaults suit most files.
package struct ReaderOptions: Codable, Sendable, Hashable {
  /// The format; nil: by the file name's ending (`.csv`, `.txt`, `.tsv`, `.tab`, `.json`, `.ndjson`, `.jsonl`,
  /// `.xml`, `.plist`, `.sqlite`), otherwise by the first bytes. A `.json` file with an object a line is read as NDJSON; a
  /// SQLite database and a binary property list are known by their first bytes, whatever the name.
  package var format: SourceFormat?
  /// CSV: what stands between two fields, one byte; nil: whichever of `,` `;` tab `|` the first line has most of.
  package var delimiter: String?
  /// CSV: what stands around a field, one byte; nil: nothing does, quotes are ordinary text.
  package var quote: String?
  /// CSV: whether the first line names the columns.
  package var header: Bool
  /// Names of the columns. CSV: needed when there is no header line; with one, they replace its names.
  /// JSON: known from the start, in this order, before the keys that are met.
  package var columns: [String]?
  /// JSON and property lists: keys that lead to the array, with dots between them; nil: the document is the array, or an object with
  /// just one array of objects among its values.
  package var root: String?
  /// A record of more bytes is a `RecordProblem.recordTooLong`. It bounds the reader's memory. At most 1 GiB.
  package var maximumRecordBytes: Int
  /// CSV: a byte, mostly the backslash, that takes its meaning from the byte after it, inside quotes and outside:
  /// delimiter, quote, line end or itself are then text. Quotes may be doubled all the same. Equal to the quote, it
  /// says nothing new. Source: `escapechar` of Python's csv.
  package var escape: String? = nil
  /// CSV and TSV: whether fields are written as PostgreSQL's `COPY` and MySQL's `SELECT INTO OUTFILE` write them:
  /// never quoted, `\t` `\n` `\r` `\b` `\f` `\v` for what they are in C, a backslash before any other byte is
  /// dropped, and a field that is `\N` is null.
  package var tsvEscapes = false
  /// CSV, TSV and fixed width: lines that begin with this, not inside quotes, are passed over. At most 16 bytes.
  package var comment: String? = nil
  /// CSV, TSV and fixed width: this many lines at the beginning are passed over, whatever is in them; the header is
  /// after them.
  package var skipLines = 0
  /// Fixed width: the columns. That format needs it.
  package var fixedWidth: FixedWidthLayout? = nil
  /// XML: the elements that are records: by name, wherever they stand, or by path from the document's element down,
  /// such as `feed/entry`. Names are those in the file, with their prefix. Nil: the elements in the document's
  /// element, if they have one name or only one name comes more than once.
  package var record: String? = nil
  /// SQLite: the table whose rows are the records; nil: the only one, unless there is a query.
  package var table: String? = nil
  /// SQLite: a SELECT whose rows are the records. It may only read, and use functions that do nothing but compute.
  package var query: String? = nil
  /// Which file of a zip or tar archive: its exact name there, or a pattern with `*` and `?` that fits just one; nil: the
  /// only file there is, or the only one with a known ending.
  package var member: String?
  /// How the text is encoded; nil: as it says itself (a byte order mark, UTF-16's zeros), otherwise UTF-8. A byte order
  /// mark wins over what is said here.
  package var encoding: TextEncoding?
  /// What to take text for that is neither marked nor UTF-8, when its first 64 KiB show that; nil: records that aren't
  /// UTF-8 are rejected one by one.
  package var fallbackEncoding: TextEncoding?
  /// A compressed source may unpack to so many bytes for each of its own, once past 64 MiB.
  package var maximumExpansion: Int
  /// A compressed source may unpack to so many bytes.
  package var maximumUnpackedBytes: Int64

  /// Options of these parts.
  package init(
    format: SourceFormat? = nil, delimiter: String? = nil, quote: String? = "\"", header: Bool = true,
    columns: [String]? = nil, root: String? = nil, maximumRecordBytes: Int = 16 << 20, member: String? = nil,
    encoding: TextEncoding? = nil, fallbackEncoding: TextEncoding? = nil, maximumExpansion: Int = 250,
    maximumUnpackedBytes: Int64 = 1 << 40
  ) {
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

  /// Refuses what no reader could work with.
  package func validate() throws(ReaderError) {
    guard (1...(1 << 30)).contains(maximumRecordBytes) else {
      throw .invalidOption(name: "maximumRecordBytes", reason: "it must be between 1 and 1 GiB")
    }
    guard maximumExpansion > 0 else { throw .invalidOption(name: "maximumExpansion", reason: "it must be 1 or more") }
    guard maximumUnpackedBytes > 0 else {
      throw .invalidOption(name: "maximumUnpackedBytes", reason: "it must be 1 or more")
    }
    if let member, member.isEmpty || member.utf8.count > 4_096 {
      throw .invalidOption(name: "member", reason: "it is empty, or longer than 4096 bytes")
    }
    if let fallbackEncoding, !fallbackEncoding.isSingleByte {
      throw .invalidOption(
        name: "fallbackEncoding", reason: "\(fallbackEncoding.rawValue) isn't an encoding of one byte a character")
    }
    let delimiter = try Self.byte(delimiter, of: "delimiter")
    let quote = try Self.byte(quote, of: "quote")
    if let delimiter, delimiter == quote {
      throw .invalidOption(name: "delimiter", reason: "it is the same as the quote")
    }
    try validateLines(delimiter: delimiter, quote: quote)
    try validateRecord()
    try validateQuery()
    if let rootPath {
      if rootPath.contains("") { throw .invalidOption(name: "root", reason: "“\(root ?? "")” has an empty key") }
      if rootPath.count > 100 { throw .invalidOption(name: "root", reason: "it has more than 100 keys") }
    }
    if let columns { try Self.check(names: columns) }
  }

  /// Whether a file of UTF-8 without a byte order mark could be taken for another encoding.
  var mayReadUTF8AsAnother: Bool { fallbackEncoding != nil || encoding.map { $0 != .utf8 } ?? false }

  /// The keys that lead to the array.
  var rootPath: [String]? {
    root?.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }

  /// Refuses names that are empty or given twice.
  static func check(names: [String]) throws(ReaderError) {
    guard names.count <= maximumColumns else { throw .tooManyColumns(limit: maximumColumns) }
    var seen = Set<String>()
    for (index, name) in names.enumerated() {
      if name.isEmpty { throw .emptyColumnName(index: index + 1) }
      if !seen.insert(name).inserted { throw .duplicateColumn(name: SourceError.shown(name)) }
    }
  }

  /// The byte that an option names.
  static func byte(_ text: String?, of option: String) throws(ReaderError) -> UInt8? {
    guard let text else { return nil }
    guard text.utf8.count == 1, let byte = text.utf8.first, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r"),
      byte != 0
    else {
      throw .invalidOption(name: option, reason: "“\(text)” isn't one byte, or it ends a line")
    }
    return byte
  }

  /// A wider table is taken for a mistake: a record costs memory by the column.
  static let maximumColumns = 16_384
  /// Bytes of all their names.
  static let maximumColumnText = 1 << 20
}

extension ReaderOptions {
  private enum CodingKeys: String, CodingKey {
    case format, delimiter, quote, header, columns, root, maximumRecordBytes, member, encoding, fallbackEncoding
    case maximumExpansion, maximumUnpackedBytes
    case escape, tsvEscapes, comment, skipLines, fixedWidth, record, table, query
  }

  /// Reads options in which any part may be left out; what isn't there has its default.
  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init()
    format = try values.decodeIfPresent(SourceFormat.self, forKey: .format)
    delimiter = try values.decodeIfPresent(String.self, forKey: .delimiter)
    if values.contains(.quote) { quote = try values.decodeIfPresent(String.self, forKey: .quote) }
    header = try values.decodeIfPresent(Bool.self, forKey: .header) ?? header
    columns = try values.decodeIfPresent([String].self, forKey: .columns)
    root = try values.decodeIfPresent(String.self, forKey: .root)
    maximumRecordBytes = try values.decodeIfPresent(Int.self, forKey: .maximumRecordBytes) ?? maximumRecordBytes
    escape = try values.decodeIfPresent(String.self, forKey: .escape)
    tsvEscapes = try values.decodeIfPresent(Bool.self, forKey: .tsvEscapes) ?? false
    comment = try values.decodeIfPresent(String.self, forKey: .comment)
    skipLines = try values.decodeIfPresent(Int.self, forKey: .skipLines) ?? 0
    fixedWidth = try values.decodeIfPresent(FixedWidthLayout.self, forKey: .fixedWidth)
    record = try values.decodeIfPresent(String.self, forKey: .record)
    table = try values.decodeIfPresent(String.self, forKey: .table)
    query = try values.decodeIfPresent(String.self, forKey: .query)
    member = try values.decodeIfPresent(String.self, forKey: .member)
    encoding = try values.decodeIfPresent(TextEncoding.self, forKey: .encoding)
    fallbackEncoding = try values.decodeIfPresent(TextEncoding.self, forKey: .fallbackEncoding)
    maximumExpansion = try values.decodeIfPresent(Int.self, forKey: .maximumExpansion) ?? maximumExpansion
    maximumUnpackedBytes =
      try values.decodeIfPresent(Int64.self, forKey: .maximumUnpackedBytes) ?? maximumUnpackedBytes
  }

  /// Writes every part, a missing quote as null: left out, it would come back as the default.
  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encodeIfPresent(format, forKey: .format)
    try values.encodeIfPresent(delimiter, forKey: .delimiter)
    try values.encode(quote, forKey: .quote)
    try values.encode(header, forKey: .header)
    try values.encodeIfPresent(columns, forKey: .columns)
    try values.encodeIfPresent(root, forKey: .root)
    try values.encode(maximumRecordBytes, forKey: .maximumRecordBytes)
    try values.encodeIfPresent(escape, forKey: .escape)
    if tsvEscapes { try values.encode(tsvEscapes, forKey: .tsvEscapes) }
    try values.encodeIfPresent(comment, forKey: .comment)
    if skipLines != 0 { try values.encode(skipLines, forKey: .skipLines) }
    try values.encodeIfPresent(fixedWidth, forKey: .fixedWidth)
    try values.encodeIfPresent(record, forKey: .record)
    try values.encodeIfPresent(table, forKey: .table)
    try values.encodeIfPresent(query, forKey: .query)
    try values.encodeIfPresent(member, forKey: .member)
    try values.encodeIfPresent(encoding, forKey: .encoding)
    try values.encodeIfPresent(fallbackEncoding, forKey: .fallbackEncoding)
    try values.encode(maximumExpansion, forKey: .maximumExpansion)
    try values.encode(maximumUnpackedBytes, forKey: .maximumUnpackedBytes)
  }
}
