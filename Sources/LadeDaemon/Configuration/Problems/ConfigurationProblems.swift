/// Everything that is wrong with a configuration file, in the order of its lines. Never empty.
package struct ConfigurationProblems: Error, Sendable, Equatable {
  package let problems: [ConfigurationProblem]

  /// Problems in any order; what is there twice (through an alias, say) is kept once.
  init(_ problems: [ConfigurationProblem]) {
    var seen = Set<ConfigurationProblem>()
    self.problems = problems.filter { seen.insert($0).inserted }.enumerated()
      .sorted { ($0.element.line ?? 0, $0.element.column ?? 0, $0.offset) < ($1.element.line ?? 0, $1.element.column ?? 0, $1.offset) }
      .map(\.element)
  }
}

extension ConfigurationProblems: CustomStringConvertible {
  /// A line for each problem.
  package var description: String { problems.map(\.description).joined(separator: "\n") }
}
