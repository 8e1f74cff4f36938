import Foundation

/// What a store does when it was made with another version of the model: a description's options, for the store.
public struct MigrationOptions: Sendable {
  /// Whether the store is migrated when it is opened.
  public var shouldMigrateStoreAutomatically = true
  /// Whether what no mapping model says may be inferred.
  public var shouldInferMappingModelAutomatically = true
  /// Mapping models of the program's own, by the versions that they lead from and to.
  public var mappingModels: [MappingModel] = []
  /// The stages of the way from any earlier version.
  public var stagedMigrationManager: StagedMigrationManager?

  /// Whether an inferred migration that would lose values is refused.
  public var refusesLossyMigration = false
  /// What may be lost all the same: an entity, or a property as `Entity.property`.
  public var permittedMigrationLosses: Set<String> = []
  /// Who hears of what couldn't be kept, where that isn't refused.
  public var migrationWarningHandler: (@Sendable (String) -> Void)?

  /// Hears that the store is about to be migrated, and what differs between its version of the model and the present one;
  /// called on the thread that opens it.
  public var willMigrate: (@Sendable ([VersionDifference]) -> Void)?

  /// Whether to give the migration up, asked now and then on the thread that migrates; the store is as it was then, and
  /// opening it throws ``MaintenanceStopped``. Objects that a mapping model's policies make are made all the same.
  public var shouldStop: (@Sendable () -> Bool)?

  /// The default options.
  public init() {}

  /// Refuses losses that aren't meant, and tells of them where they aren't refused.
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
