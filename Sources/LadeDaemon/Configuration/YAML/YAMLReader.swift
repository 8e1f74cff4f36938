// Composing a configuration file. What is kept here: everything that is wrong is found in one reading. YAML that can't
// be parsed ends it, for there is nothing to go on with; but Yams also stops at a key that is there twice, and that
// must not hide what else is wrong. So the first of such keys is set aside: its first letter is replaced by one
// that nobody writes (which moves nothing in the file), the place is noted, and the text is composed again.

import Yams

/// A place in a file. Lines and columns count from 1.
struct Place: Hashable {
  let line: Int
  let column: Int
}

extension Place {
  init(_ mark: Mark) { self.init(line: mark.line, column: mark.column) }
}

/// What reads one layer of a configuration, a file or a variable.
final class YAMLReader {
  /// The file's or variable's name in problems.
  let file: String
  /// Where the problems of all layers are collected.
  let reading: ConfigurationReading
  /// A variable has no lines to tell of, and its relative paths begin where the process was started, as in a shell.
  let isVariable: Bool
  /// Keys that stand again further down in the same mapping.
  private var setAside: [Place: String] = [:]

  /// Whether a text is taken for the number or truth that it says, and the other way round: so where what is read was
  /// written on a command line.
  let takesTextsForNumbers: Bool

  init(
    file: String, reading: ConfigurationReading = ConfigurationReading(), isVariable: Bool = false,
    takesTextsForNumbers: Bool = false
  ) {
    self.file = file
    self.reading = reading
    self.isVariable = isVariable
    self.takesTextsForNumbers = takesTextsForNumbers
  }

  func report(_ kind: ConfigurationProblem.Kind, at place: Place?) {
    let place = isVariable ? nil : place
    reading.report(ConfigurationProblem(file: file, line: place?.line, column: place?.column, kind: kind))
  }

  /// Remembers where a key stands.
  func note(_ key: String, at place: Place?) { reading.note(key, in: file, at: isVariable ? nil : place) }

  /// The key that stood here before it was set aside.
  func keySetAside(at place: Place?) -> String? { place.flatMap { setAside[$0] } }

  /// The text's tree: an empty text where it says nothing. Nil with a problem reported.
  func compose(_ text: String) -> Node? {
    var scalars = Array(text.unicodeScalars)
    if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
    // Private use: no file has so many keys twice, and one that has is read to there.
    for replacement in UInt32(0xE000)..<0xE100 {
      do throws(YamlError) {
        return try YAMLReader.tree(String(String.UnicodeScalarView(scalars))) ?? Node("", Tag(.str), .plain)
      } catch .duplicatedKeysInMapping(let keys, let context) {
        let key = keys.first ?? ""
        let place = Place(context.mark)
        guard let index = YAMLReader.index(of: key, at: place, in: scalars),
          let replacement = Unicode.Scalar(replacement)
        else {
          report(.notYAML("this key stands here and again further down; remove one"), at: place)
          return nil
        }
        setAside[place] = key
        scalars[index] = replacement
      } catch {
        report(error)
        return nil
      }
    }
    report(.notYAML("too many keys are there twice"), at: nil)
    return nil
  }

  /// Without rules a plain scalar stays what was written: `NO` is a country, and 12:30 isn't 750.
  private static func tree(_ text: String) throws(YamlError) -> Node? {
    do {
      return try Yams.compose(yaml: text, .basic)
    } catch let error as YamlError {
      throw error
    } catch {
      throw .reader(problem: String(describing: error), offset: nil, value: -1, yaml: text)
    }
  }

  /// Where in the text the key's first letter is, behind a quote perhaps; nil if something else stands there.
  private static func index(of key: String, at place: Place, in scalars: [Unicode.Scalar]) -> Int? {
    guard !key.isEmpty else { return nil }
    var line = 1
    var start = 0
    while line < place.line {
      guard let end = scalars[start...].firstIndex(of: "\n") else { return nil }
      start = end + 1
      line += 1
    }
    start += place.column - 1
    guard start >= 0, start < scalars.count else { return nil }
    if scalars[start] == "\"" || scalars[start] == "'" { start += 1 }
    return scalars[start...].starts(with: key.unicodeScalars) ? start : nil
  }

  private func report(_ error: YamlError) {
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      report(.notYAML(problem), at: Place(mark))
    case .reader(let problem, let offset, _, let text):
      let lines = offset.map { text.prefix($0).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) }
      report(.notYAML(problem), at: lines.map { Place(line: $0.count, column: ($0.last?.count ?? 0) + 1) })
    case .memory: report(.notYAML("it is nested too deeply"), at: nil)
    case .duplicatedKeysInMapping, .no, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
      report(.notYAML(String(describing: error)), at: nil)
    }
  }
}
