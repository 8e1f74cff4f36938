import Synchronization

/// The registered file formats. Whatever enumerates formats, their endings or their options asks here.
package final class FileFormats: Sendable {
  /// The formats of this process.
  package static let standard = FileFormats([
    CSVFormat(), TSVFormat(), FixedWidthFormat(), JSONFormat(), NDJSONFormat(), XMLFormat(), PropertyListFormat(),
    SQLiteFormat(), CoreDataFormat(), ExcelFormat(), OpenDocumentFormat(), ParquetFormat(),
  ])

  /// The name of the format assumed for a text when neither its name nor its beginning shows one.
  private static let fallback = FileFormatName.csv
  private let registered: Mutex<Registered>

  /// The formats, with the lists that follow from them.
  private struct Registered {
    let formats: [any FileFormat]
    let options: [FormatOption]
    let fields: [any FormatFieldCoding]

    init(_ formats: [any FileFormat]) {
      var keys = Set<String>()
      var names = Set<String>()
      self.formats = formats
      options = (FormatOption.ofEveryFile + formats.flatMap(\.options)).filter { keys.insert($0.key).inserted }
      fields = options.compactMap(\.field).filter { names.insert($0.name).inserted }
    }
  }

  init(_ formats: [any FileFormat]) { registered = Mutex(Registered(formats)) }

  /// Adds a format, in place of one that has the same name.
  func add(_ format: any FileFormat) {
    registered.withLock { $0 = Registered($0.formats.filter { $0.name != format.name } + [format]) }
  }

  /// All formats, in the order in which they were added.
  var all: [any FileFormat] { registered.withLock { $0.formats } }

  /// The names of all formats.
  package var names: [String] { all.map(\.name.rawValue) }

  subscript(name: FileFormatName) -> (any FileFormat)? { all.first { $0.name == name } }

  /// The format that a file name's ending suggests, whatever its case; nil if it suggests none.
  func format(ofFileName name: String) -> (any FileFormat)? {
    guard let dot = name.lastIndex(of: ".") else { return nil }
    let ending = name[name.index(after: dot)...].lowercased()
    return all.first { $0.endings.contains(ending) }
  }

  /// Whether a file name, without the ending of its compression, has the ending of a format.
  func hasKnownEnding(_ name: String) -> Bool {
    format(ofFileName: SourceCompression.ofName(name)?.inner ?? name) != nil
  }

  /// The formats that a file can have, given what the options say.
  func candidates(_ options: ReaderOptions) -> [any FileFormat] {
    options.format.map { name in all.filter { $0.name == name } } ?? all
  }

  /// The format of a text, as far as its name and its first bytes tell.
  func format(of sample: SourceSample, fileName: String) throws(ReaderError) -> any FileFormat {
    let all = all
    // Formats that read the file itself were asked before.
    let signed = all.first { format in
      guard case .text = format.access else { return false }
      return format.signatures.contains { sample.text.starts(with: $0) }
    }
    if let signed { return signed }
    let named = format(ofFileName: fileName)
    if let named, named.isSettledByEnding { return named }
    if let found = all.first(where: { $0.recognises(sample, named: named?.name) }) ?? named { return found }
    return try require(Self.fallback)
  }

  /// - Throws: ``ReaderError/invalidOption(name:reason:)`` if no format has the name.
  func require(_ name: FileFormatName) throws(ReaderError) -> any FileFormat {
    if let found = self[name] { return found }
    throw .invalidOption(
      name: "format", reason: "“\(name.rawValue)” isn't one of \(names.joined(separator: ", "))")
  }
}

extension FileFormats {
  /// The options of reading, each once: first those of every file, then what formats add.
  package var options: [FormatOption] { registered.withLock { $0.options } }

  /// The option with a key; nil if no format has it.
  package func option(_ key: String) -> FormatOption? { options.first { $0.key == key } }

  /// The stored fields of formats' options, each once.
  var fields: [any FormatFieldCoding] { registered.withLock { $0.fields } }

  /// Options that contradict each other, and those that the named format has no use for.
  /// - Parameter keys: the options that were given together: only they can be reported.
  package func conflicts(in options: ReaderOptions, given keys: Set<String>) -> [OptionConflict] {
    var found: [OptionConflict] = []
    if let name = options.format, let format = self[name] {
      for option in self.options where keys.contains(option.key) && !format.knows(option) {
        let titles = all.filter { $0.knows(option) }.map(\.title)
        found.append(
          OptionConflict(
            key: option.key,
            problem: "only \(Self.list(titles)) \(titles.count == 1 ? "has" : "have") it, "
              + "and the format is \(name.rawValue)"))
      }
    }
    for format in candidates(options) {
      for conflict in format.conflicts(in: options, given: keys) where !found.contains(conflict) {
        found.append(conflict)
      }
    }
    return found
  }

  /// The keys of options that say something, but not about this format; one key for each field.
  func uselessOptions(of options: ReaderOptions, for format: any FileFormat) -> [String] {
    var fields = Set<String>()
    return self.options.filter { option in
      option.isSet(options) && !format.knows(option) && fields.insert(option.field?.name ?? option.key).inserted
    }.map(\.key)
  }

  /// The formats in a sentence: `CSV, TSV and JSON`.
  package var titles: String { Self.list(all.map(\.title)) }

  /// Every option with a line of help, and with the formats that know it, for a command's help.
  package var optionsHelp: String {
    let formats = all
    return options.map { option in
      let titles = formats.filter { $0.knows(option) }.map(\.title)
      let whose = titles.count == formats.count ? "" : " (\(titles.joined(separator: ", ")))"
      return "  \(option.key): \(option.help)\(whose)"
    }.joined(separator: "\n")
  }

  /// `CSV, TSV and JSON`.
  private static func list(_ words: [String]) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "no format" }
    return words.dropLast().joined(separator: ", ") + " and " + last
  }
}

extension FileFormatName: CaseIterable {
  /// The names of all registered formats.
  package static var allCases: [FileFormatName] { FileFormats.standard.all.map(\.name) }
}
