import StrictYAML

/// What reads one layer of a configuration, a file or a variable, and reports what is wrong with it.
final class YAMLReader {
  /// The most bytes that are read of a file.
  static let longest = 1 << 20

  /// The file's or variable's name in problems.
  let file: String
  /// Where the problems of all layers are collected.
  let reading: ConfigurationReading
  /// A variable has no lines to report, and its relative paths begin where the process was started, as in a shell.
  let isVariable: Bool
  /// Whether it is a recipe that a client has saved.
  let isSaved: Bool
  /// Keys that stand again further down in the same mapping.
  private var duplicateKeys: [YAMLPlace: String] = [:]

  init(
    file: String, reading: ConfigurationReading = ConfigurationReading(), isVariable: Bool = false,
    isSaved: Bool = false
  ) {
    self.file = file
    self.reading = reading
    self.isVariable = isVariable
    self.isSaved = isSaved
  }

  func report(_ kind: ConfigurationProblem.Kind, at place: YAMLPlace? = nil) {
    let place = isVariable ? nil : place
    reading.report(ConfigurationProblem(file: file, line: place?.line, column: place?.column, kind: kind))
  }

  func report(_ error: YAMLError) { report(.yaml(error.problem), at: error.place) }

  /// Remembers where a key stands.
  func note(_ key: String, at place: YAMLPlace?) { reading.note(key, in: file, at: isVariable ? nil : place) }

  /// The key here, if it stands again further down; its node has another name.
  func duplicateKey(at place: YAMLPlace?) -> String? { place.flatMap { duplicateKeys[$0] } }

  /// The text's tree: an empty text where it says nothing. Nil with a problem reported.
  func compose(_ bytes: some RandomAccessCollection<UInt8>) -> YAMLNode? {
    do throws(YAMLError) {
      let document = try YAMLDocument(parsing: bytes, limits: .trusted(bytes: Self.longest))
      duplicateKeys = document.duplicateKeys
      return document.root
    } catch {
      report(error)
      return nil
    }
  }
}
