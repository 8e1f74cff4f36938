package import Foundation

/// A completed import of a recipe that is watched: see ``JobQueue/recipeRuns()``.
package struct RecipeRun: Sendable, Hashable {
  package var recipe: String
  /// When the import completed.
  package var endedAt: Date
  /// The job, which may have been removed since; nil where this only says since when the recipe is watched.
  package var job: Int64?
  /// Records that were imported, changed or not.
  package var records: Int64

  package init(recipe: String, endedAt: Date, job: Int64?, records: Int64 = 0) {
    self.recipe = recipe
    self.endedAt = endedAt
    self.job = job
    self.records = records
  }
}
