public import Foundation
package import Importing
public import Logging
public import ManagedObjects

/// What an operation works with.
public struct JobEnvironment: Sendable {
  /// The data stores, by their names in the configuration.
  public var dataStores: [String: PersistentStoreCoordinator]
  /// The spool's folder with the inputs that the daemon has taken.
  public var activeDirectory: URL
  /// Where reject files go.
  public var rejectsDirectory: URL
  /// Where exported files go.
  public var exportsDirectory: URL
  /// Where jobs keep the rows that they read of incremental sources: for the daemon alone, since values may be masked later.
  package var extractsDirectory: URL
  /// What names this queue among all that a data store may meet: the identifier of the queue's store.
  public var queueIdentifier: String
  /// The data stores as they are when a job begins, where they may be replaced by others; else ``dataStores`` stay as they are.
  package var presentStores: (@Sendable () -> [String: PersistentStoreCoordinator])?
  /// What the configuration says about looking after the data stores, by their names.
  package var upkeep: [String: StoreUpkeep] = [:]
  /// How long an export may take from one record to the next; nil for as long as it takes.
  package var exportPause: (@Sendable () -> Duration)?
  /// What connects to PostgreSQL; nil where nothing does.
  package var openPostgres: OpenPostgres?
  /// Where the keys of masks are, and passwords.
  package var credentials = MaskCredentials.ofProcess
  /// Whether jobs keep the former values of what they change, where it is recorded which rows they change.
  package var keepsBeforeImages: @Sendable () -> Bool = { true }
  /// Where reports of what was found go.
  package var reportsDirectory: URL?
  /// The nice value of the threads that jobs run on, from 0 to 19, so that answers get the processor before jobs.
  package var niceness: Int32 = 0
  /// How long a file may be whose bytes go to the store of a shared queue; nil for none.
  package var sharedFileLimit: Int64?
  /// Whether the file of a job may go there.
  package var sharesFile: (@Sendable (Job) -> Bool)?
  /// Brings a file to `active/`, unless it is there: whole and durable, with the bytes that `copy` writes to a descriptor.
  package var receiveFile:
    (@Sendable (_ name: String, _ file: SharedFile, _ copy: (_ descriptor: Int32) throws -> Void) throws -> Void)?
  /// A logger; the one that an operation gets names its job.
  public var logger: Logger
  /// Reports the job's progress to the queue. Set by the queue for each job.
  public internal(set) var report: @Sendable (JobProgress) -> Void = { _ in }
  /// Brings the job's file to `active/`, if it may be elsewhere. Set by the queue for each job.
  var fetchFile: (@Sendable (Job) throws -> Void)?
  /// Where the job's rejects are kept once more. Set by the queue for each job.
  var rejectCopy: (any RejectCopy)?
  /// Whether a job is still the operation's that has it. Set by the queue for each job.
  var isOwn: (@Sendable (Job) throws -> Bool)?
  /// Changes jobs of the queue that runs the operation. Set by the queue for each job.
  var changeJobs: (@Sendable (ChangeOperation) async throws -> JobOutcome)?

  /// An environment for the queue to hand to operations.
  /// - Parameter exportsDirectory: where exported files go; if it isn't given, into `exports` beside the rejects.
  public init(
    dataStores: [String: PersistentStoreCoordinator], activeDirectory: URL, rejectsDirectory: URL,
    exportsDirectory: URL? = nil, queueIdentifier: String = "", logger: Logger
  ) {
    self.exportsDirectory =
      exportsDirectory ?? rejectsDirectory.deletingLastPathComponent().appendingPathComponent("exports")
    extractsDirectory = rejectsDirectory.deletingLastPathComponent().appendingPathComponent("extracts")
    self.queueIdentifier = queueIdentifier
    self.dataStores = dataStores
    self.activeDirectory = activeDirectory
    self.rejectsDirectory = rejectsDirectory
    self.logger = logger
  }
}

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

  /// Makes a version of the store's model current, in which it has evolved for a file, and migrates the store to it; nil where
  /// the configuration doesn't let it.
  package var evolve: (@Sendable (SchemaEvolution, ModelOrigin, MaintenanceWatch) throws -> Void)?
  /// What a job has made of the model, if it made the current version: changes for a person; nil if it didn't.
  package var evolved: (@Sendable (_ job: String) throws -> String?)?
  /// Takes back the current version of the model, if an import made it.
  package var revert: (@Sendable (_ force: Bool, MaintenanceWatch) throws -> MigrationReport)?

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

/// What has a model evolve.
package struct ModelOrigin: Sendable, Hashable {
  /// The job, with its queue.
  package var job: String
  package var number: Int64
  package var source: String
}
