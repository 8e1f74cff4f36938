package import StrictYAML

/// One thing that is wrong with a configuration, and where. Lines and columns count from 1.
package struct ConfigurationProblem: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// The file can't be opened or read; what the system says of it.
    case unreadable(String)
    case empty
    /// The text of a file or variable is wrong.
    case yaml(YAMLProblem)
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

  private var what: String {
    switch kind {
    case .unreadable(let problem): "the file can't be read: \(problem)"
    case .empty: "the file says nothing; it must at least describe `stores`"
    case .yaml(let problem): problem.description
    case .unfit(_, let problem): problem
    }
  }

  /// The key that it is about, with the keys that lead to it.
  var key: String? {
    switch kind {
    case .unreadable, .empty: nil
    case .yaml(let problem): problem.key
    case .unfit(let key, _): key
    }
  }

  /// What is wrong, for a reader who knows the key.
  var reason: String { if case .yaml(let problem) = kind { problem.reason } else { what } }
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
