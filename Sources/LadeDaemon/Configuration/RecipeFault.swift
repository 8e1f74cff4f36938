/// A saved recipe that isn't used, since something is wrong with it: its model or store has changed, or somebody has written to its
/// file. It keeps nothing else from working.
package struct RecipeFault: Sendable, Equatable {
  package let recipe: String
  /// What is wrong, with its place.
  package let problems: [ConfigurationProblem]
  /// What it says, where that can be read: its masks still hold.
  let definition: RecipeConfiguration?

  /// What is wrong, in words.
  var reason: String { problems.map(\.reason).joined(separator: "; ") }

  /// What to do about it.
  static func remedy(_ recipe: String) -> String {
    "Save it again as it is to be, or remove it: 'ladectl recipe remove \(recipe)'."
  }

  /// What the log and a check of the configuration say of it.
  var warnings: [ConfigurationProblem] {
    problems.map { problem in
      let words = "the saved recipe \(recipe) isn't used: \(problem.reason). \(Self.remedy(recipe))"
      return ConfigurationProblem(
        file: problem.file, line: problem.line, column: problem.column,
        kind: .unfit(key: "recipes.\(recipe)", problem: words))
    }
  }
}
