package import Importing

/// What is done with files of the hot folder that has the recipe's name.
package struct RecipeConfiguration: Sendable, Equatable {
  package var name: String
  /// The name of a store of the configuration.
  package var store: String
  package var entity: String
  /// The name of a lane of the configuration.
  package var lane = LaneConfiguration.defaultName
  /// Higher goes first.
  package var priority = 0
  /// How often a job is tried, the first time included.
  package var maxAttempts = 5
  /// How the file is read and its records are imported.
  package var options = ImportOptions()

  package init(name: String, store: String, entity: String) {
    self.name = name
    self.store = store
    self.entity = entity
  }
}
