extension PersistentStoreDescription {
  /// Whether a store that was made with another version of the model is migrated when it is opened; true unless set.
  /// A store in memory is always of the present version.
  ///
  /// Source: `shouldMigrateStoreAutomatically` of Core Data's `NSPersistentStoreDescription`.
  public var shouldMigrateStoreAutomatically: Bool {
    get { migration.shouldMigrateStoreAutomatically }
    set { migration.shouldMigrateStoreAutomatically = newValue }
  }

  /// Whether a migration for which no mapping model was given is inferred; true unless set.
  ///
  /// Source: `shouldInferMappingModelAutomatically` of Core Data's `NSPersistentStoreDescription`.
  public var shouldInferMappingModelAutomatically: Bool {
    get { migration.shouldInferMappingModelAutomatically }
    set { migration.shouldInferMappingModelAutomatically = newValue }
  }

  /// Mapping models of the program's own. The one whose source version is the store's and whose destination version is the
  /// coordinator's is taken rather than inferring one.
  ///
  /// Not in Core Data, which finds mapping models among the resources of the program.
  public var mappingModels: [MappingModel] {
    get { migration.mappingModels }
    set { migration.mappingModels = newValue }
  }

  /// The stages by which the store comes from any earlier version to the coordinator's; nil to migrate in one. Where it is
  /// set, ``mappingModels`` aren't looked at: a stage may have one.
  ///
  /// Source: `NSPersistentStoreStagedMigrationManagerOptionKey` of Core Data.
  public var stagedMigrationManager: StagedMigrationManager? {
    get { migration.stagedMigrationManager }
    set { migration.stagedMigrationManager = newValue }
  }

  /// Whether an inferred migration is refused, with every obstacle, when the model no longer has what the store holds
  /// values for: an entity, an attribute or a relationship. A program whose model others edit says yes: what is left out
  /// by mistake is not lost then.
  ///
  /// No, the default, drops them: Core Data's behaviour, which has no such option.
  public var refusesLossyMigration: Bool {
    get { migration.refusesLossyMigration }
    set { migration.refusesLossyMigration = newValue }
  }
}
