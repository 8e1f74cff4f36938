/// How to read a source. The defaults suit most files.
///
/// Stored here are the options of every file. Each format declares the fields of its own options (``FormatField``), and
/// an extension beside the format gives them typed properties: `options.skipLines` is declared in `LineOptions.swift`.
package struct ReaderOptions: Sendable, Hashable {
  /// The format; nil: by the file name's ending, otherwise by the first bytes. Signatures such as those of a SQLite
  /// database and a binary property list settle it, whatever the name.
  package var format: FileFormatName? = nil
  /// Names of the columns. CSV: needed when there is no header line; with one, they replace its names.
  /// JSON: known from the start, in this order, before the keys that are met.
  package var columns: [String]? = nil
  /// A record of more bytes is a `RecordProblem.recordTooLong`. It bounds the reader's memory. At most 1 GiB.
  package var maximumRecordBytes = 16 << 20
  /// Which file of a zip or tar archive: its exact name there, or a pattern with `*` and `?` that fits just one; nil: the
  /// only file there is, or the only one with a known ending.
  package var member: String? = nil
  /// How the text is encoded; nil: as a byte order mark or UTF-16's zeros say, otherwise UTF-8. A byte order mark
  /// overrules this option.
  package var encoding: TextEncoding? = nil
  /// The encoding assumed for text that is neither marked nor UTF-8, when its first 64 KiB show that; nil: records that
  /// aren't UTF-8 are rejected one by one.
  package var fallbackEncoding: TextEncoding? = nil
  /// The unpacked bytes allowed for each byte of a compressed source, past 64 MiB.
  package var maximumExpansion = 250
  /// The unpacked bytes allowed for a compressed source.
  package var maximumUnpackedBytes: Int64 = 1 << 40
  /// The values of formats' options other than the defaults.
  private var values = FormatValues()

  /// The default options.
  package init() {}

  subscript<Value>(field: FormatField<Value>) -> Value {
    get { values[field.name] ?? field.defaultValue }
    set { values[field.name] = newValue == field.defaultValue ? nil : newValue }
  }

  /// Refuses options that no reader could work with.
  package func validate() throws(ReaderError) {
    guard (1...(1 << 30)).contains(maximumRecordBytes) else {
      throw .invalidOption(name: "maximum_record_bytes", reason: "it must be between 1 and 1 GiB")
    }
    guard maximumExpansion > 0 else { throw .invalidOption(name: "maximum_expansion", reason: "it must be 1 or more") }
    guard maximumUnpackedBytes > 0 else {
      throw .invalidOption(name: "maximum_unpacked_bytes", reason: "it must be 1 or more")
    }
    if let member, member.isEmpty || member.utf8.count > 4_096 {
      throw .invalidOption(name: "member", reason: "it is empty, or longer than 4096 bytes")
    }
    if let fallbackEncoding, !fallbackEncoding.isSingleByte {
      throw .invalidOption(
        name: "fallback_encoding", reason: "\(fallbackEncoding.rawValue) has more than one byte per character")
    }
    if let format { _ = try FileFormats.standard.require(format) }
    for format in FileFormats.standard.all { try format.validate(self) }
    if let columns { try Self.check(names: columns) }
  }

  /// Whether a file of UTF-8 without a byte order mark could be taken for another encoding.
  var mayReadUTF8AsAnother: Bool { fallbackEncoding != nil || encoding.map { $0 != .utf8 } ?? false }

  /// Refuses names that are given twice, or empty unless columns may have no name.
  static func check(names: [String], mayBeEmpty: Bool = false) throws(ReaderError) {
    guard names.count <= maximumColumns else { throw .tooManyColumns(limit: maximumColumns) }
    var seen = Set<String>()
    for (index, name) in names.enumerated() {
      if name.isEmpty, mayBeEmpty { continue }
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

  /// A wider table is taken for a mistake: every record costs memory for each column.
  static let maximumColumns = 16_384
  /// Bytes of all their names.
  static let maximumColumnText = 1 << 20
}

extension ReaderOptions: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case format, columns, maximumRecordBytes, member, encoding, fallbackEncoding, maximumExpansion, maximumUnpackedBytes
  }

  /// Reads options in which any part may be missing; a missing part has its default.
  package init(from decoder: any Decoder) throws {
    let common = try decoder.container(keyedBy: CodingKeys.self)
    format = try common.decodeIfPresent(FileFormatName.self, forKey: .format)
    columns = try common.decodeIfPresent([String].self, forKey: .columns)
    maximumRecordBytes = try common.decodeIfPresent(Int.self, forKey: .maximumRecordBytes) ?? maximumRecordBytes
    member = try common.decodeIfPresent(String.self, forKey: .member)
    encoding = try common.decodeIfPresent(TextEncoding.self, forKey: .encoding)
    fallbackEncoding = try common.decodeIfPresent(TextEncoding.self, forKey: .fallbackEncoding)
    maximumExpansion = try common.decodeIfPresent(Int.self, forKey: .maximumExpansion) ?? maximumExpansion
    maximumUnpackedBytes =
      try common.decodeIfPresent(Int64.self, forKey: .maximumUnpackedBytes) ?? maximumUnpackedBytes
    let ofFormats = try decoder.container(keyedBy: FormatFieldName.self)
    for field in FileFormats.standard.fields { try field.decode(from: ofFormats, into: &self) }
  }

  /// Writes the options as one flat object.
  package func encode(to encoder: any Encoder) throws {
    var common = encoder.container(keyedBy: CodingKeys.self)
    try common.encodeIfPresent(format, forKey: .format)
    try common.encodeIfPresent(columns, forKey: .columns)
    try common.encode(maximumRecordBytes, forKey: .maximumRecordBytes)
    try common.encodeIfPresent(member, forKey: .member)
    try common.encodeIfPresent(encoding, forKey: .encoding)
    try common.encodeIfPresent(fallbackEncoding, forKey: .fallbackEncoding)
    try common.encode(maximumExpansion, forKey: .maximumExpansion)
    try common.encode(maximumUnpackedBytes, forKey: .maximumUnpackedBytes)
    var ofFormats = encoder.container(keyedBy: FormatFieldName.self)
    for field in FileFormats.standard.fields { try field.encode(self, into: &ofFormats) }
  }
}
