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
  /// So is any migration that couldn't keep an index, a trigger or a view of another program.
  ///
  /// No, the default, drops them: Core Data's behaviour, which has no such option. What of other programs can't be kept is
  /// told to the ``migrationWarningHandler`` then.
  public var refusesLossyMigration: Bool {
    get { migration.refusesLossyMigration }
    set { migration.refusesLossyMigration = newValue }
  }

  /// What a migration may lose although ``refusesLossyMigration`` is set: entities (`"Desk"`, with all that they have), or
  /// properties and other programs' indexes, triggers and views by the entity or table and their name (`"Person.email"`).
  ///
  /// What a refusal named can be put in here once it is sure that the loss is meant. Not in Core Data.
  public var permittedMigrationLosses: Set<String> {
    get { migration.permittedMigrationLosses }
    set { migration.permittedMigrationLosses = newValue }
  }

  /// Hears of every index, trigger and view of another program that a migration couldn't keep, in a sentence; called while
  /// the store is opened, on the caller's thread. nil, the default, writes them to standard error. Nothing is told where
  /// ``refusesLossyMigration`` is set: what isn't refused is meant then. Not in Core Data.
  public var migrationWarningHandler: (@Sendable (String) -> Void)? {
    get { migration.migrationWarningHandler }
    set { migration.migrationWarningHandler = newValue }
  }
}
