import Foundation

/// A description's options for a store that was made with another version of the model.
public struct MigrationOptions: Sendable {
  /// Whether the store is migrated when it is opened.
  public var shouldMigrateStoreAutomatically = true
  /// Whether a migration without a mapping model may be inferred.
  public var shouldInferMappingModelAutomatically = true
  /// Mapping models of the program's own, by the versions that they lead from and to.
  public var mappingModels: [MappingModel] = []
  /// The stages from any earlier version.
  public var stagedMigrationManager: StagedMigrationManager?

  /// Whether an inferred migration that would lose values is refused.
  public var refusesLossyMigration = false
  /// Permitted losses: an entity, or a property as `Entity.property`.
  public var permittedMigrationLosses: Set<String> = []
  /// Receives losses that aren't refused.
  public var migrationWarningHandler: (@Sendable (String) -> Void)?

  /// Called before the store is migrated, with the differences between its version of the model and the present one, on the
  /// thread that opens it.
  public var willMigrate: (@Sendable ([VersionDifference]) -> Void)?

  /// Whether to stop the migration; called repeatedly on the thread that migrates. The store then stays as it was, and opening it
  /// throws ``MaintenanceStopped``. A mapping model's policies aren't interrupted.
  public var shouldStop: (@Sendable () -> Bool)?

  /// The default options.
  public init() {}

  /// Refuses losses that aren't permitted, and reports them where they aren't refused.
  /// - Throws: ``MigrationError/cannotInfer(obstacles:)`` with every one that is refused.
  package func accept(_ losses: [MigrationObstacle], store: String) throws {
    guard refusesLossyMigration else {
      for loss in losses { warn("\(store): \(loss)") }
      return
    }
    let refused = losses.filter { loss in
      let property = loss.property.map { "\(loss.entity).\($0)" }
      return !permittedMigrationLosses.contains(loss.entity)
        && property.map(permittedMigrationLosses.contains) != true
    }
    guard refused.isEmpty else { throw MigrationError.cannotInfer(obstacles: refused) }
  }

  private func warn(_ message: String) {
    if let migrationWarningHandler { return migrationWarningHandler(message) }
    FileHandle.standardError.write(Data("warning: \(message)\n".utf8))
  }
}

extension PersistentStoreDescription {
  /// Whether a store that was made with another version of the model is migrated when it is opened; true by default.
  /// A store in memory is always of the present version.
  ///
  /// Source: `shouldMigrateStoreAutomatically` of Core Data's `NSPersistentStoreDescription`.
  public var shouldMigrateStoreAutomatically: Bool {
    get { migration.shouldMigrateStoreAutomatically }
    set { migration.shouldMigrateStoreAutomatically = newValue }
  }

  /// Whether a migration for which no mapping model was given is inferred; true by default.
  ///
  /// Source: `shouldInferMappingModelAutomatically` of Core Data's `NSPersistentStoreDescription`.
  public var shouldInferMappingModelAutomatically: Bool {
    get { migration.shouldInferMappingModelAutomatically }
    set { migration.shouldInferMappingModelAutomatically = newValue }
  }

  /// Mapping models of the program's own. The one whose source version is the store's and whose destination version is the
  /// coordinator's is used instead of an inferred one.
  ///
  /// Not in Core Data, which finds mapping models among the resources of the program.
  public var mappingModels: [MappingModel] {
    get { migration.mappingModels }
    set { migration.mappingModels = newValue }
  }

  /// The stages from any earlier version to the coordinator's; nil to migrate in one step. If it is set, ``mappingModels`` are
  /// ignored: a stage may have one.
  ///
  /// Source: `NSPersistentStoreStagedMigrationManagerOptionKey` of Core Data.
  public var stagedMigrationManager: StagedMigrationManager? {
    get { migration.stagedMigrationManager }
    set { migration.stagedMigrationManager = newValue }
  }

  /// Whether an inferred migration is refused, with every obstacle, when the model no longer has an entity, an attribute or a
  /// relationship that the store holds values for. It protects a program whose model others edit from losing data by mistake.
  ///
  /// A migration that couldn't keep an index, a trigger or a view of another program is refused too.
  ///
  /// By default they are dropped, as in Core Data, which has no such option. The ``migrationWarningHandler`` then receives the
  /// losses of other programs.
  public var refusesLossyMigration: Bool {
    get { migration.refusesLossyMigration }
    set { migration.refusesLossyMigration = newValue }
  }

  /// Losses that are permitted although ``refusesLossyMigration`` is set: entities (`"Desk"`, with all their properties), or
  /// properties and other programs' indexes, triggers and views by the entity or table and their name (`"Person.email"`).
  ///
  /// The names are those of the refusal's message. Not in Core Data.
  public var permittedMigrationLosses: Set<String> {
    get { migration.permittedMigrationLosses }
    set { migration.permittedMigrationLosses = newValue }
  }

  /// Receives a sentence about every index, trigger and view of another program that a migration couldn't keep; called while the
  /// store is opened, on the caller's thread. nil, the default, writes them to standard error. It isn't called if
  /// ``refusesLossyMigration`` is set: losses that aren't refused are then permitted. Not in Core Data.
  public var migrationWarningHandler: (@Sendable (String) -> Void)? {
    get { migration.migrationWarningHandler }
    set { migration.migrationWarningHandler = newValue }
  }
}
