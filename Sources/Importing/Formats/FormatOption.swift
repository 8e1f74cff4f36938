/// An option of reading, as recipes, tickets and command lines give it: its key, its help, and how a value is taken.
package struct FormatOption: Sendable {
  /// The key, such as `skip_lines`.
  package let key: String
  /// What it does, in a sentence without a full stop.
  package let help: String
  /// Whether only the configuration may give it: it bounds what a file may cost, and the person who submits a file doesn't choose
  /// that.
  package let isOperators: Bool
  /// Whether it says something about files of any format.
  let isOfEveryFormat: Bool
  /// Where its value is stored; nil for the options of every file, which have properties of their own.
  let field: (any FormatFieldCoding)?
  /// Whether the options have a value for it other than the default.
  let isSet: @Sendable (ReaderOptions) -> Bool
  private let apply:
    @Sendable (_ value: any OptionInput, _ given: Set<String>, inout ReaderOptions) throws(ReaderError) -> Void

  /// An option whose value goes into a field of a format.
  /// - Parameter read: takes the value from what was given; nil if that was refused and reported.
  init<Value: Codable & Hashable & Sendable>(
    _ key: String, _ field: FormatField<Value>, help: String,
    read: @escaping @Sendable (any OptionInput) throws(ReaderError) -> Value?
  ) {
    self.init(key, changing: field, help: help) { (value, _, options) throws(ReaderError) in
      if let value = try read(value) { options[field] = value }
    }
  }

  /// The same for a field that may be nil.
  init<Value: Codable & Hashable & Sendable>(
    _ key: String, optional field: FormatField<Value?>, help: String,
    read: @escaping @Sendable (any OptionInput) throws(ReaderError) -> Value?
  ) {
    self.init(key, changing: field, help: help) { (value, _, options) throws(ReaderError) in
      if let value = try read(value) { options[field] = value }
    }
  }

  /// An option that changes a field of a format, or more than that.
  init<Value: Codable & Hashable & Sendable>(
    _ key: String, changing field: FormatField<Value>, help: String,
    take: @escaping @Sendable (any OptionInput, Set<String>, inout ReaderOptions) throws(ReaderError) -> Void
  ) {
    self.key = key
    self.help = help
    self.field = field
    apply = take
    isOperators = false
    isOfEveryFormat = false
    isSet = { $0[field] != field.defaultValue }
  }

  /// An option of every file, with a property of its own.
  init<Value: Equatable & Sendable>(
    _ key: String, property: WritableKeyPath<ReaderOptions, Value> & Sendable, isOperators: Bool = false,
    isOfEveryFormat: Bool, help: String,
    take: @escaping @Sendable (any OptionInput, inout ReaderOptions) throws(ReaderError) -> Void
  ) {
    self.key = key
    self.help = help
    self.isOperators = isOperators
    self.isOfEveryFormat = isOfEveryFormat
    field = nil
    isSet = { $0[keyPath: property] != ReaderOptions()[keyPath: property] }
    apply = { (value, _, options) throws(ReaderError) in try take(value, &options) }
  }

  /// Takes the value that was given.
  /// - Parameter keys: the options that were given together with it.
  package func take(
    _ value: some OptionInput, given keys: Set<String>, into options: inout ReaderOptions
  ) throws(ReaderError) {
    try apply(value, keys, &options)
  }
}

/// A value that was given for an option. Each method returns nil, or throws, when the value isn't what the method reads;
/// the configuration reports it with its line and goes on to find more, a command line stops.
package protocol OptionInput {
  /// A text.
  /// - Parameter orEmpty: whether it may be empty or have line ends and other control characters.
  func text(orEmpty: Bool) throws(ReaderError) -> String?
  /// Keys with dots between them.
  func keyPath() throws(ReaderError) -> String?
  /// One ASCII character, or a word that stands for something else.
  func character(orWord word: String, meaning: String?) throws(ReaderError) -> String??
  func flag() throws(ReaderError) -> Bool?
  func number(_ allowed: ClosedRange<Int>) throws(ReaderError) -> Int?
  func word(among words: [String]) throws(ReaderError) -> String?
  /// A list of names.
  func names() throws(ReaderError) -> [String]?
  /// - Parameter isSingleByte: whether an encoding of more than one byte per character is refused.
  func encoding(isSingleByte: Bool) throws(ReaderError) -> TextEncoding?
  /// The columns of a fixed-width file.
  func fields() throws(ReaderError) -> [FixedWidthLayout.Column]?
}

extension OptionInput {
  /// A text that isn't empty.
  func text() throws(ReaderError) -> String? { try text(orEmpty: false) }
}

/// Why an option can't be given together with others.
package struct OptionConflict: Sendable, Hashable {
  /// The option at which it is reported.
  package let key: String
  package let problem: String
}

extension FormatOption {
  /// The options of every file, and those of every text file.
  static let ofEveryFile: [FormatOption] = [format] + ofText + [maximumExpansion, maximumUnpackedBytes]

  /// The options of text: which member of an archive it is in, and how it is encoded.
  static let ofText: [FormatOption] = [member, encoding, fallbackEncoding]

  private static let format = FormatOption(
    "format", property: \.format, isOfEveryFormat: true, help: "the format, if neither name nor content show it"
  ) { (value, options) throws(ReaderError) in
    guard let word = try value.word(among: FileFormats.standard.names) else { return }
    options.format = FileFormatName(rawValue: word)
  }

  private static let maximumExpansion = FormatOption(
    "maximum_expansion", property: \.maximumExpansion, isOperators: true, isOfEveryFormat: true,
    help: "unpacked bytes allowed per byte of a compressed file, past 64 MiB"
  ) { (value, options) throws(ReaderError) in
    if let factor = try value.number(1...1_000_000) { options.maximumExpansion = factor }
  }

  private static let maximumUnpackedBytes = FormatOption(
    "maximum_unpacked_bytes", property: \.maximumUnpackedBytes, isOperators: true, isOfEveryFormat: true,
    help: "unpacked bytes allowed for a compressed file"
  ) { (value, options) throws(ReaderError) in
    if let bytes = try value.number(1...Int.max) { options.maximumUnpackedBytes = Int64(bytes) }
  }

  static let member = FormatOption(
    "member", property: \.member, isOfEveryFormat: false,
    help: "the file in a zip or tar archive, or the sheet of a workbook: its name, or a pattern with * and ?"
  ) { (value, options) throws(ReaderError) in
    if let name = try value.text() { options.member = name }
  }

  private static let encoding = FormatOption(
    "encoding", property: \.encoding, isOfEveryFormat: false,
    help: "the text encoding of a file without a byte order mark"
  ) { (value, options) throws(ReaderError) in
    if let found = try value.encoding(isSingleByte: false) { options.encoding = found }
  }

  private static let fallbackEncoding = FormatOption(
    "fallback_encoding", property: \.fallbackEncoding, isOfEveryFormat: false,
    help: "the encoding to assume for text that isn't UTF-8"
  ) { (value, options) throws(ReaderError) in
    if let found = try value.encoding(isSingleByte: true) { options.fallbackEncoding = found }
  }

  /// The option of formats whose columns can be named.
  static let columns = FormatOption(
    "columns", property: \.columns, isOfEveryFormat: false, help: "names of the columns, in order"
  ) { (value, options) throws(ReaderError) in
    if let names = try value.names() { options.columns = names }
  }
}
