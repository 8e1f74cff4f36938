import LadeTypes

/// A place in a text. Lines and columns count from 1.
package struct YAMLPlace: Sendable, Hashable {
  package let line: Int
  package let column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }
}

/// One thing that is wrong with a text of YAML. Keys are written with those that lead to them, and dots between.
package enum YAMLProblem: Sendable, Hashable {
  case tooLarge(limit: Int)
  /// It isn't UTF-8.
  case notText
  case notYAML(String)
  /// A tag such as `!include`, which would promise something that doesn't happen; or an anchor or alias where none may be.
  case notAllowed(String)
  case duplicateKey(String, firstLine: Int)
  case unknownKey(String, nearest: String?, known: [String])
  case missingKey(String, meaning: String)
  case wrongType(key: String, expected: String, found: String)
  /// The type is right and the value isn't: out of range, or not a name, a path, a duration.
  case wrongValue(key: String, value: String, problem: String)
  /// A value that is one of several words, or the name of something that is described elsewhere.
  case unknownWord(key: String, value: String, nearest: String?, known: [String])
  /// Each is right by itself, and together they are impossible.
  case conflict(key: String, problem: String)

  static let tags = YAMLProblem.notAllowed("tags (`!name`)")

  /// A key that isn't among those known.
  /// - Parameter path: what leads to the key, with a dot at its end; empty at the top.
  package static func unknownKey(_ name: String, under path: String, among known: [String]) -> YAMLProblem {
    .unknownKey(path + YAMLNode.shown(name), nearest: NearestName.of(name, among: known), known: known.sorted())
  }

  /// The key that it is about, with the keys that lead to it.
  package var key: String? {
    switch self {
    case .tooLarge, .notText, .notYAML, .notAllowed: nil
    case .duplicateKey(let key, _), .unknownKey(let key, _, _), .missingKey(let key, _), .wrongType(let key, _, _),
      .wrongValue(let key, _, _), .unknownWord(let key, _, _, _), .conflict(let key, _):
      key
    }
  }

  /// What is wrong, for a reader who knows the key.
  package var reason: String {
    switch self {
    case .wrongType(_, let expected, let found): "it must be \(expected), and is \(found)"
    case .wrongValue(_, let value, let problem): "it can't be “\(value)”: \(problem)"
    case .unknownWord(_, let value, let nearest, let known):
      "it can't be “\(value)”; " + Self.suggestion(nearest, known.isEmpty ? "there is none yet" : "there are", known)
    case .conflict(_, let problem): problem
    default: description
    }
  }

  private static func suggestion(_ nearest: String?, _ listed: String, _ known: [String]) -> String {
    if let nearest { return "did you mean `\(nearest)`?" }
    return listed + (known.isEmpty ? "" : ": " + known.map { "`\($0)`" }.joined(separator: ", "))
  }
}

extension YAMLProblem: CustomStringConvertible {
  /// What is wrong, and what to write instead, as a part of a sentence.
  package var description: String {
    switch self {
    case .tooLarge(let limit): "the file has more than \(limit) bytes"
    case .notText: "the file is not UTF-8 text"
    case .notYAML(let problem): "this is not YAML: \(problem)"
    case .notAllowed(let what): "\(what) mean nothing here; write the value out, or put it in quotes"
    case .duplicateKey(let key, let firstLine): "`\(key)` is there twice, first in line \(firstLine); remove one"
    case .unknownKey(let key, let nearest, let known):
      "there is no key `\(key)`; " + Self.suggestion(nearest, "it could be", known)
    case .missingKey(let key, let meaning): "`\(key)` is missing: \(meaning)"
    case .wrongType(let key, let expected, let found): "`\(key)` must be \(expected), and is \(found)"
    case .wrongValue(let key, let value, let problem): "`\(key)` can't be “\(value)”: \(problem)"
    case .unknownWord(let key, let value, let nearest, let known):
      "`\(key)` can't be “\(value)”; "
        + Self.suggestion(nearest, known.isEmpty ? "there is none yet" : "there are", known)
    case .conflict(let key, let problem): "`\(key)`: \(problem)"
    }
  }
}

/// A problem and its place, which is nil where the whole text is wrong, or the parser doesn't know it.
package struct YAMLError: Error, Hashable {
  package let problem: YAMLProblem
  package let place: YAMLPlace?

  package init(_ problem: YAMLProblem, at place: YAMLPlace?) {
    self.problem = problem
    self.place = place
  }
}
