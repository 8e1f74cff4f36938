package import Foundation
package import ManagedObjects

/// How the configuration wants a data store maintained.
package struct StoreUpkeep: Sendable {
  /// Where backups are kept, made if it isn't there.
  package var backupFolder: URL
  /// How many backups are kept: the newest; at least one.
  package var keptBackups: Int
  /// How backups are packed.
  package var compression: BackupCompression
  /// What a migration of a backup, or of the store, may do.
  package var migration: MigrationOptions
  /// Migrates the store to the model that its configuration's path holds now, and has everything of the daemon use that;
  /// nil where that isn't possible.
  package var migrate: (@Sendable (MaintenanceWatch) throws -> MigrationReport)?

  package init(
    backupFolder: URL, keptBackups: Int = 7, compression: BackupCompression = .zstd,
    migration: MigrationOptions = MigrationOptions(),
    migrate: (@Sendable (MaintenanceWatch) throws -> MigrationReport)? = nil
  ) {
    self.backupFolder = backupFolder
    self.keptBackups = keptBackups
    self.compression = compression
    self.migration = migration
    self.migrate = migrate
  }
}
