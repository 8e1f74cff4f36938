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
