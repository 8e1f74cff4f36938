// A save is one transaction of SQLite in WAL mode, so readers never wait for the writer, and see a save whole or not at all.
// Row numbers are never given twice, also after the highest row was deleted: `lade_metadata` keeps the last one.

import CoreDataStores
public import Foundation
import GRDB
public import Logging
public import ManagedObjects
import SQLSchema
import Synchronization

/// A store in an SQLite file, whose tables people and their tools can read.
///
/// One table per entity hierarchy, with the root entity's name; one column per attribute, with the attribute's name; a to-one
/// relationship `owner` is the column `owner_id`, a foreign key. See ``SchemaMap``.
package final class SQLiteStore: BulkLoading {
  package var identifier: String { tables.identifier }
  package let url: URL?
  let pool: DatabasePool
  /// The connection for all writes, and for reads within a transaction of several writes.
  let writer: WriterConnection
  let options: SQLiteStoreOptions
  /// Whether the file is only read.
  let isReadOnly: Bool
  /// Receives failures of work that no caller waits for.
  let report: @Sendable (StoreFailure) -> Void
  package let tables: StoreTables
  /// The files of large values; nil when there can't be any, or none may be written.
  let external: ExternalFiles?
  /// What saves know of the rows that others refer to.
  let knownTargets = KnownTargets()
  /// The loads that do without a table's indexes.
  let postponements = IndexPostponements()

  /// Notices commits of others; set once, before the store is used.
  private let watcher = Mutex<RemoteChangeWatcher?>(nil)

  /// Opens or creates the file, and migrates a file of another version of the model.
  ///
  /// - Throws: ``MigrationError`` when it can't be migrated or mustn't be, ``ManagedObjectError/incompatibleStore(path:reason:)``
  ///   when its tables aren't those of the model and it doesn't name the model that made them,
  ///   ``ManagedObjectError/store(_:)`` when SQLite can't open it.
  package convenience init(
    at url: URL, model: ManagedObjectModel, entities: [EntityDescription], options: SQLiteStoreOptions = .init(),
    migration: MigrationOptions = .init(), newIdentifier: String? = nil, timeout: TimeInterval = lockTimeout,
    logger: Logger = SQLiteStoreSettings().logger, backgroundFailureHandler: (@Sendable (StoreFailure) -> Void)? = nil
  ) throws {
    let report = backgroundFailureHandler ?? PersistentStoreDescription.reportToStandardError
    let log = SQLLog(options.sqlLog, logger, path: url.path)
    let opening = StoreOpening(
      model: model, entities: entities, path: url.path, options: migration, newIdentifier: newIdentifier, log: log)
    let (pool, opened, checkpointer) = try Self.translating(url) {
      let pool = try DatabasePool(path: url.path, configuration: Self.configuration(options, timeout: timeout, log))
      let (opened, checkpointer) = try pool.writeWithoutTransaction { db in
        let opened = try opening.open(db)
        try db.execute(sql: "PRAGMA synchronous = \(options.durability == .everySave ? "FULL" : "NORMAL")")
        try db.execute(sql: "PRAGMA cache_size = -\(options.writerCache / 1024)")
        let pageSize = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? options.pageSize
        let checkpointer = WALCheckpointer(
          path: url.path, from: max(1, options.checkpointSize / pageSize), report: report)
        checkpointer.follow(db)
        // Truncates the log after a transaction of several writes has made it grow.
        try db.execute(sql: "PRAGMA journal_size_limit = \(4 * max(options.checkpointSize, pageSize))")
        if options.persistentHistoryTracking {
          for statement in HistoryTables.statements { try db.execute(sql: statement) }
        }
        return (opened, checkpointer)
      }
      return (pool, opened, checkpointer)
    }
    self.init(
      at: url, entities: entities, options: options, pool: pool, checkpointer: checkpointer, opened: opened,
      report: report)
    try translating {
      try writer.withoutTransaction { db in
        // What a former version or a store of this name had.
        if opened.isChanged { try ExternalData.collect(db, of: opened.schema, at: url) }
        try tables.external?.open(db)
      }
    }
  }

  /// Opens a file, whose tables are known to fit, for reading only; another connection may be changing them.
  convenience init(migrating url: URL, entities: [EntityDescription], opened: StoreOpening.Opened) throws {
    let options = SQLiteStoreOptions()
    var configuration = Self.configuration(options)
    configuration.readonly = true
    let pool = try DatabasePool(path: url.path, configuration: configuration)
    self.init(
      at: url, entities: entities, options: options, pool: pool, checkpointer: nil, opened: opened,
      report: PersistentStoreDescription.reportToStandardError)
  }

  /// Opens an existing file of the model's version for reading only: see ``ReadOnlyFile``.
  ///
  /// - Throws: ``MigrationError/incompatibleVersion(store:differences:)`` when it would have to be migrated,
  ///   ``ManagedObjectError/incompatibleStore(path:reason:)``, ``ManagedObjectError/store(_:)``.
  package convenience init(
    reading url: URL, model: ManagedObjectModel, entities: [EntityDescription], options: SQLiteStoreOptions = .init(),
    timeout: TimeInterval = lockTimeout, logger: Logger = SQLiteStoreSettings().logger,
    backgroundFailureHandler: @escaping @Sendable (StoreFailure) -> Void
  ) throws {
    let opening = StoreOpening(model: model, entities: entities, path: url.path, options: MigrationOptions())
    let log = SQLLog(options.sqlLog, logger, path: url.path)
    let file = try Self.translating(url) {
      try ReadOnlyFile(url, Self.configuration(options, timeout: timeout, log)) { try opening.check($0) }
    }
    self.init(
      at: url, entities: entities, options: options, pool: file.pool, checkpointer: nil, opened: file.checked,
      isReadOnly: true, constancy: file.constancy, report: backgroundFailureHandler)
  }

  private init(
    at url: URL, entities: [EntityDescription], options: SQLiteStoreOptions, pool: DatabasePool,
    checkpointer: WALCheckpointer?, opened: StoreOpening.Opened, isReadOnly: Bool = false,
    constancy: FileConstancy? = nil, report: @escaping @Sendable (StoreFailure) -> Void
  ) {
    self.url = url
    self.report = report
    self.options = options
    self.isReadOnly = isReadOnly
    self.pool = pool
    tables = StoreTables(of: entities, schema: opened.schema, identifier: opened.identifier, url: url)
    let external =
      isReadOnly
      ? nil
      : ExternalFiles(
        tables.external, path: url.path, isDurable: options.durability == .everySave, failed: report)
    self.external = external
    writer = WriterConnection(
      pool, checkpointer: checkpointer, path: url.path, constancy: constancy, external: external)
  }

  /// How long a connection waits for another's lock unless the description says otherwise, in seconds.
  package static let lockTimeout = 30.0

  static func configuration(_ options: SQLiteStoreOptions, timeout: TimeInterval = lockTimeout, _ log: SQLLog? = nil)
    -> Configuration
  {
    var configuration = Configuration.ofStores
    configuration.refuseReadingOnly()
    configuration.maximumReaderCount = options.readers
    configuration.busyMode = .timeout(timeout)
    configuration.label = "SQLiteStore"
    // For the writing connection: a transaction of several writes is open between its uses.
    configuration.allowsUnsafeTransactions = true
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA page_size = \(options.pageSize)")
      // Has an effect on an empty file only; elsewhere `VACUUM` is needed.
      if options.incrementalVacuum, !db.configuration.readonly, try db.number("auto_vacuum") == 0 {
        try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
      }
      try db.execute(sql: "PRAGMA cache_size = -\(options.readerCache / 1024)")
      PredicateFunctions.register(on: db)
      DateForms.register(on: db)
      TextForms.register(on: db)
      StoredForms.own.registerContent(on: db)
      db.endWhenInterrupted()
      log?.follow(db)
    }
    return configuration
  }

  var schema: SchemaMap { tables.schema }
  var layouts: [Int: RowLayout] { tables.layouts }
  var hasOrders: Bool { tables.hasOrders }
  var hasDerivations: Bool { tables.hasDerivations }

  func layout(of entity: EntityDescription) throws -> RowLayout { try tables.layout(of: entity) }

  /// The layouts of the entities whose rows a fetch of `entity` may return; at least one.
  func layouts(of entity: EntityDescription, includesSubentities: Bool = true) throws -> [RowLayout] {
    try tables.layouts(of: entity, includesSubentities: includesSubentities)
  }

  /// Whether the store holds the entity, or one that inherits from it.
  func holds(_ entity: EntityDescription) -> Bool { tables.holds(entity) }

  /// Starts noticing commits of others, if the options ask for it. Called once, before the store is used.
  package func followRemoteChanges(_ handler: @escaping @Sendable (Int64?) -> Void) throws {
    guard options.remoteChangeNotifications, let url else { return }
    var lastTransaction: RemoteChangeWatcher.LastTransaction?
    if tracksHistory { lastTransaction = { db throws -> Int64 in try SQLiteStore.lastTransactionNumber(db) } }
    try translating {
      let new = try RemoteChangeWatcher(
        writer, file: url, lastTransaction: lastTransaction, handler: handler, report: report)
      watcher.withLock { $0 = new }
    }
  }

  /// Runs `body`, and translates SQLite's errors into ``StoreFailure``s.
  func translating<T>(_ body: () throws -> T) throws -> T { try tables.translating(body) }

  static func translating<T>(_ url: URL, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as DatabaseError {
      throw ManagedObjectError.store(StoreFailure(error, path: url.path))
    } catch let error as ExternalDataError {
      throw ManagedObjectError.store(error.failure(ofStoreAt: url.path))
    }
  }

  package func snapshot() throws -> any StoreReader { try SQLiteSnapshot(of: tables, pool) }

  package func close() throws {
    try writer.refuseInTransaction("close the store")
    watcher.withLock { watcher in
      watcher?.stop()
      watcher = nil
    }
    writer.stopCheckpointing()
    try translating {
      // Passive: doesn't wait for readers of other processes.
      let checkpoint = Result {
        if isReadOnly { return }
        try writer.withoutTransaction { db in
          external?.close(db)
          _ = try db.checkpoint(.passive)
        }
      }
      try pool.close()
      try checkpoint.get()
    }
  }

  package func synchronize() throws {
    if isReadOnly { return }
    try writer.refuseInTransaction("wait for the disk")
    // A commit with FULL syncs the log, and with it every earlier commit.
    try translating {
      try writer.withoutTransaction { db in
        try db.execute(sql: "PRAGMA synchronous = FULL")
        let result = Result {
          try db.inTransaction {
            try db.execute(
              sql: "INSERT OR REPLACE INTO lade_metadata (key, value) VALUES ('synchronized', strftime('%s', 'now'))")
            return .commit
          }
        }
        if options.durability == .atCheckpoint { try db.execute(sql: "PRAGMA synchronous = NORMAL") }
        try result.get()
      }
    }
  }
}

extension PersistentStoreDescription {
  /// A store in the SQLite file at `url`, which is created if it doesn't exist.
  public static func sqlite(
    at url: URL, configuration: String? = nil, options: SQLiteStoreOptions = .init()
  ) -> PersistentStoreDescription {
    var description = PersistentStoreDescription(url: url, configuration: configuration)
    description.sqliteOptions = options
    return description
  }

  /// The options of a store in an SQLite file; a store of another type ignores them.
  ///
  /// Source: `setOption(_:forKey:)` and `setValue(_:forPragmaNamed:)` of Core Data's `NSPersistentStoreDescription`.
  public var sqliteOptions: SQLiteStoreOptions {
    get { sqliteSettings.options }
    set { sqliteSettings.options = newValue }
  }

  /// Receives the statements of a store in an SQLite file, as ``SQLiteStoreOptions/sqlLog`` has it, at the level `info`; by
  /// default a logger with the label `sql`.
  public var sqlLogger: Logger {
    get { sqliteSettings.logger }
    set { sqliteSettings.logger = newValue }
  }

  private var sqliteSettings: SQLiteStoreSettings {
    get { storeOptions as? SQLiteStoreSettings ?? SQLiteStoreSettings() }
    set { storeOptions = newValue }
  }
}

extension LinkedStoreTypes: SQLiteStoreOpening {
  package static func openSQLiteStore(
    _ model: ManagedObjectModel, _ entities: [EntityDescription], _ opening: PersistentStoreDescription.OpeningOptions
  ) throws -> any IncrementalStore {
    guard let url = opening.url else { throw PersistentStoreError.noURL(.sqlite) }
    let settings = opening.storeOptions as? SQLiteStoreSettings ?? SQLiteStoreSettings()
    if opening.isReadOnly {
      return try SQLiteStore(
        reading: url, model: model, entities: entities, options: settings.options, timeout: opening.timeout,
        logger: settings.logger, backgroundFailureHandler: opening.backgroundFailureHandler)
    }
    return try SQLiteStore(
      at: url, model: model, entities: entities, options: settings.options, migration: opening.migration,
      timeout: opening.timeout, logger: settings.logger, backgroundFailureHandler: opening.backgroundFailureHandler)
  }
}
