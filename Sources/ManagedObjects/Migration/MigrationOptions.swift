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
