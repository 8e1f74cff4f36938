/// What a store does when it was made with another version of the model: a description's options, for the store.
package struct MigrationOptions: Sendable {
  /// Whether the store is migrated when it is opened.
  package var shouldMigrateStoreAutomatically = true
  /// Whether what no mapping model says may be inferred.
  package var shouldInferMappingModelAutomatically = true
  /// Mapping models of the program's own, by the versions that they lead from and to.
  package var mappingModels: [MappingModel] = []
  /// The stages of the way from any earlier version.
  package var stagedMigrationManager: StagedMigrationManager?

  /// Whether an inferred migration that would lose values is refused.
  package var refusesLossyMigration = false

  package init() {}
}
