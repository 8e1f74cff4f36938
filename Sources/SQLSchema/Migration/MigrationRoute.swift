package import ManagedObjects

/// How a store gets from the version of the model that made it to another.
package struct MigrationRoute {
  /// The way between the versions.
  package enum Way {
    /// By stages, on a copy.
    case stages([StagedMigrationManager.Step])
    /// By a program's mapping model, object by object.
    case mapping(MappingModel)
    /// By SQL.
    case inferred(MappingModel)
  }

  /// The model that made the store, and the entities of it that the store holds.
  package let source: ManagedObjectModel
  package let sourceEntities: [EntityDescription]
  package let way: Way

  /// Chooses the way that the options want, and tells them that it is taken.
  /// - Parameters:
  ///   - kept: the store's version.
  ///   - entities: what the store will hold.
  ///   - store: the store, for errors.
  /// - Throws: ``MigrationError`` when no way is open, or when it would lose what mustn't be lost.
  package init(
    from kept: StoredVersion, to model: ManagedObjectModel, _ entities: [EntityDescription],
    _ options: MigrationOptions, store: String
  ) throws {
    let source = try kept.model(path: store)
    let version = try StoredVersion(model, entities)
    self.source = source
    sourceEntities = source.entities.filter { kept.hashes[$0.name] != nil }
    if kept.hashes != version.hashes {
      let differences = VersionDifference.between(kept.hashes, version.hashes, from: source, to: model)
      guard options.shouldMigrateStoreAutomatically else {
        throw MigrationError.incompatibleVersion(store: store, differences: differences)
      }
      options.willMigrate?(differences)
      if let manager = options.stagedMigrationManager {
        way = .stages(try manager.steps(from: source.versionChecksum, to: model, store: store))
        return
      }
      if let mapping = options.mappingModels.first(where: { $0.leads(from: kept, to: version) }) {
        way = .mapping(mapping)
        return
      }
      guard options.shouldInferMappingModelAutomatically else {
        throw MigrationError.missingMappingModel(store: store, differences: differences)
      }
    }
    let mapping = try MappingModel.inferred(from: source, sourceEntities, to: model, entities)
    if options.refusesLossyMigration { try options.accept(mapping.losses, store: store) }
    way = .inferred(mapping)
  }

  /// Checks that no migration is needed, or that it can be inferred from the two versions. What depends on the rows is left to the
  /// migration.
  /// - Throws: ``MigrationError/cannotInfer(obstacles:)``, ``MigrationError/unreadableModel(store:reason:)``.
  package static func check(
    from kept: StoredVersion, to model: ManagedObjectModel, _ entities: [EntityDescription],
    _ options: MigrationOptions, store: String
  ) throws {
    guard try kept.hashes != StoredVersion(model, entities).hashes else { return }
    let source = try kept.model(path: store)
    let mapping = try MappingModel.inferred(
      from: source, source.entities.filter { kept.hashes[$0.name] != nil }, to: model, entities)
    if options.refusesLossyMigration { try options.accept(mapping.losses, store: store) }
  }

  /// The entities of a version between the two that a store of `entities` holds: all, unless other stores hold some of them.
  package func held(
    _ version: ManagedObjectModel, to model: ManagedObjectModel, _ entities: [EntityDescription]
  ) -> [EntityDescription] {
    if version === model { return entities }
    if version === source { return sourceEntities }
    if entities.count == model.entities.count, sourceEntities.count == source.entities.count { return version.entities }
    let names = Set(entities.map(\.name) + sourceEntities.map(\.name))
    return version.entities.filter { names.contains($0.name) }
  }
}

extension MappingModel {
  /// Whether it leads from one version to the other, for the entities that a store holds.
  fileprivate func leads(from kept: StoredVersion, to version: StoredVersion) -> Bool {
    kept.hashes.allSatisfy { sourceModel.entitiesByName[$0]?.versionHash == $1 }
      && version.hashes.allSatisfy { destinationModel.entitiesByName[$0]?.versionHash == $1 }
  }
}

extension StagedMigrationManager {
  /// Runs a stage's handler on a store of one version.
  package static func run(
    _ handler: Handler?, _ version: ManagedObjectModel, on open: () throws -> any IncrementalStore
  ) throws {
    guard let handler else { return }
    let store = try open()
    let coordinator = PersistentStoreCoordinator(model: version)
    try coordinator.addPersistentStore(PersistentStoreDescription { _, _ in store })
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "migration stage")
    let result = Result {
      try handler(context)
      try context.save()
    }
    try store.close()
    try result.get()
  }
}
