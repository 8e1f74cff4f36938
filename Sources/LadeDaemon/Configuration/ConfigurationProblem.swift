/// One thing that is wrong with a configuration, and where. Lines and columns count from 1.
package struct ConfigurationProblem: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// The file can't be opened or read; what the system says of it.
    case unreadable(String)
    case tooLarge(limit: Int)
    case notText
    case empty
    case notYAML(String)
    /// A tag such as `!include`: it would promise something that doesn't happen.
    case tag
    case duplicateKey(String, firstLine: Int)
    case unknownKey(String, nearest: String?, known: [String])
    case missingKey(String, meaning: String)
    case wrongType(key: String, expected: String, found: String)
    /// The type is right and the value isn't: out of range, or not a name, a path, a duration.
    case wrongValue(key: String, value: String, problem: String)
    /// A value that is one of several words, or the name of something that the file describes elsewhere.
    case unknownWord(key: String, value: String, nearest: String?, known: [String])
    /// Each is right by itself, and together they are impossible.
    case conflict(key: String, problem: String)
    /// It is right by itself, and doesn't fit the model that it is about, or what the daemon has; in whole words.
    case unfit(key: String, problem: String)
  }

  /// The file, as it was named to `load`, or the variable of the environment.
  package let file: String
  /// Nil when it is the whole file that is wrong, or a variable.
  package let line: Int?
  package let column: Int?
  package let kind: Kind

  package init(file: String, line: Int? = nil, column: Int? = nil, kind: Kind) {
    self.file = file
    self.line = line
    self.column = column
    self.kind = kind
  }
}

extension ConfigurationProblem: CustomStringConvertible {
  /// `FILE:LINE:COLUMN: what is wrong, and what to write instead`, as compilers write it, so that editors can jump to it.
  package var description: String {
    let place = [line, column].compactMap { $0.map(String.init) }
    return ([file] + place).joined(separator: ":") + ": " + what
  }

  /// The key that it is about, with the keys that lead to it.
  var key: String? {
    switch kind {
    case .unreadable, .tooLarge, .notText, .empty, .notYAML, .tag: nil
    case .duplicateKey(let key, _), .unknownKey(let key, _, _), .missingKey(let key, _), .wrongType(let key, _, _),
      .wrongValue(let key, _, _), .unknownWord(let key, _, _, _), .conflict(let key, _), .unfit(let key, _):
      key
    }
  }

  /// What is wrong, for a reader who has been told the key.
  var reason: String {
    switch kind {
    case .wrongType(_, let expected, let found): "it must be \(expected), and is \(found)"
    case .wrongValue(_, let value, let problem): "it can't be “\(value)”: \(problem)"
    case .unknownWord(_, let value, let nearest, let known):
      "it can't be “\(value)”; " + Self.suggestion(nearest, known.isEmpty ? "there is none yet" : "there are", known)
    case .conflict(_, let problem): problem
    default: what
    }
  }

  private var what: String {
    switch kind {
    case .unreadable(let problem): "the file can't be read: \(problem)"
    case .tooLarge(let limit): "the file has more than \(limit) bytes: this is no configuration"
    case .notText: "the file is not UTF-8 text"
    case .empty: "the file says nothing; it must at least describe `stores`"
    case .notYAML(let problem): "this is not YAML: \(problem)"
    case .tag: "tags (`!name`) mean nothing here; write the value out, or put it in quotes"
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
    case .unfit(_, let problem): problem
    }
  }

  private static func suggestion(_ nearest: String?, _ listed: String, _ known: [String]) -> String {
    if let nearest { return "did you mean `\(nearest)`?" }
    return listed + (known.isEmpty ? "" : ": " + known.map { "`\($0)`" }.joined(separator: ", "))
  }
}

/// Everything that is wrong with a configuration, in the order of its layers and their lines. Never empty.
package struct ConfigurationProblems: Error, Sendable, Equatable {
  package let problems: [ConfigurationProblem]

  /// Problems in any order.
  /// - Parameter layers: the files and variables, in their order.
  init(_ problems: [ConfigurationProblem], layers: [String] = []) {
    let order = Dictionary(layers.enumerated().map { ($1, $0) }) { first, _ in first }
    let places = problems.enumerated().map {
      (layer: order[$1.file] ?? layers.count, line: $1.line ?? 0, column: $1.column ?? 0, order: $0)
    }
    self.problems = places.sorted(by: <).map { problems[$0.order] }
  }
}

extension ConfigurationProblems: CustomStringConvertible {
  /// A line for each problem.
  package var description: String { problems.map(\.description).joined(separator: "\n") }
}
