/// The name of a file format, as recipes, tickets and stored options write it: `csv`, `fixed_width`.
package struct FileFormatName: RawRepresentable, Codable, Sendable, Hashable {
  package let rawValue: String

  /// The name of a format that is registered; nil for any other text.
  package init?(rawValue: String) {
    guard FileFormats.standard.names.contains(rawValue) else { return nil }
    self.init(rawValue)
  }

  /// The name under which a format is going to be registered.
  init(_ name: String) { rawValue = name }
}

/// A file format: everything that the system knows about it.
///
/// To add one, write a type that conforms to this protocol and add it to ``FileFormats``. Detection, options in recipes,
/// tickets and on the command line, their help, reject files and the names of those all follow from it. `ToyFormatTests` does so
/// in one file.
protocol FileFormat: Sendable {
  var name: FileFormatName { get }

  /// The name in sentences, such as `CSV`.
  var title: String { get }

  /// Endings of file names, in lower case and without the dot. No two formats share one.
  var endings: [String] { get }

  /// Whether such an ending settles the format. Otherwise ``recognises(_:named:)`` of every format goes first.
  var isSettledByEnding: Bool { get }

  /// First bytes that no other file has. They settle the format, whatever the file is called.
  var signatures: [[UInt8]] { get }

  /// Whether all columns are known from the beginning and no cell has nested values.
  var isTabular: Bool { get }

  /// The options that say something about files of this format, besides those of every file.
  var options: [FormatOption] { get }

  /// The format in which rejected records are written.
  var rejectFormat: FileFormatName { get }

  /// The ending of a reject file whose source has none of this format's endings, with its dot.
  var rejectEnding: String { get }

  /// Whether a text looks like this format.
  /// - Parameter named: the format that the ending suggests without settling it.
  func recognises(_ sample: SourceSample, named: FileFormatName?) -> Bool

  /// Refuses option values that no reader could work with. All formats are asked when the format isn't named, since it is not
  /// known yet.
  func validate(_ options: ReaderOptions) throws(ReaderError)

  /// Contradictions among the options, each with the key at which it is to be reported.
  /// - Parameter keys: the options that were given together.
  func conflicts(in options: ReaderOptions, given keys: Set<String>) -> [OptionConflict]

  /// The text that a binary variant of the format stands for; nil if the source isn't such a variant.
  func text(of source: any ByteSource, beginning: [UInt8], limit: ExpansionLimit) throws(ReaderError) -> (
    any ByteSource
  )?

  /// How a file is opened.
  var access: FormatAccess { get }
}

/// How the files of a format are opened for reading, from the beginning or from the end of a batch that was read before.
enum FormatAccess {
  /// As text from front to back: unpacked, and decoded to UTF-8. The window stands at the beginning.
  case text(@Sendable (SourceWindow, ReaderOptions, ReaderPosition?) throws(ReaderError) -> any RecordReader)
  /// As the file itself, read at any place: it can't be compressed or in an archive.
  case file(FileAccess)
}

/// How a format reads the file itself.
struct FileAccess {
  /// Opens a file that begins with one of the format's signatures. The second descriptor is that of its write-ahead log.
  let open: @Sendable (Int32, Int32?, ReaderOptions, ReaderPosition?) throws(ReaderError) -> any RecordReader
  /// The error for a file that is compressed or in an archive.
  let packed: ReaderError
  /// The error for a file that isn't of the format.
  let foreign: ReaderError
  /// Whether a file with one of the signatures is of the format, by its content: some share theirs with other files. Asked
  /// if the options name no format.
  var isOfFormat: @Sendable (_ descriptor: Int32, _ beginning: [UInt8], ReaderOptions) -> Bool = { _, _, _ in true }
  /// Opens a file of the format as a workbook, for its sheets; nil if its files have none.
  var workbook: (@Sendable (Int32, ReaderOptions) throws(ReaderError) -> any Workbook)? = nil
}

extension FileFormat {
  var isSettledByEnding: Bool { true }
  var signatures: [[UInt8]] { [] }
  var rejectFormat: FileFormatName { name }
  var rejectEnding: String { endings.first.map { "." + $0 } ?? "" }

  func recognises(_ sample: SourceSample, named: FileFormatName?) -> Bool { false }
  func validate(_ options: ReaderOptions) throws(ReaderError) {}
  func conflicts(in options: ReaderOptions, given keys: Set<String>) -> [OptionConflict] { [] }

  func text(
    of source: any ByteSource, beginning: [UInt8], limit: ExpansionLimit
  ) throws(ReaderError) -> (any ByteSource)? { nil }

  /// Whether an option says something about files of this format.
  func knows(_ option: FormatOption) -> Bool {
    option.isOfEveryFormat || options.contains { $0.key == option.key }
  }
}
