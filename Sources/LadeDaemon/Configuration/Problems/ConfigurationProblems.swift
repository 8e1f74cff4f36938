/// Everything that is wrong with a configuration file, in the order of its lines. Never empty.
package struct ConfigurationProblems: Error, Sendable, Equatable {
  package let problems: [ConfigurationProblem]

  /// Problems in any order.
  init(_ problems: [ConfigurationProblem]) {
    let places = problems.enumerated().map { (line: $1.line ?? 0, column: $1.column ?? 0, order: $0) }
    self.problems = places.sorted(by: <).map { problems[$0.order] }
  }
}

extension ConfigurationProblems: CustomStringConvertible {
  /// A line for each problem.
  package var description: String { problems.map(\.description).joined(separator: "\n") }
}
