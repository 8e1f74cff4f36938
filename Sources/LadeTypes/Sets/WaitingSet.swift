package import FoundationEssentials

/// A set of files in a hot folder that isn't complete.
package struct WaitingSet: Codable, Sendable, Hashable {
  package var recipe: String
  /// What the names of its files have in common; empty if they have nothing but the pattern.
  package var key: String
  /// The files that are there.
  package var files: [String]
  /// What is missing, in words.
  package var missing: [String]
  /// Since when: when the first of its files came.
  package var since: Date
  /// Whether it has waited for longer than the recipe's `timeout`.
  package var isOverdue: Bool

  package init(recipe: String, key: String, files: [String], missing: [String], since: Date, isOverdue: Bool) {
    self.recipe = recipe
    self.key = key
    self.files = files
    self.missing = missing
    self.since = since
    self.isOverdue = isOverdue
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case recipe, key, files, missing, since
    case isOverdue = "overdue"
  }
}
