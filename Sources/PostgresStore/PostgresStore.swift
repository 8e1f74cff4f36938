// A save is one transaction of PostgreSQL on level READ COMMITTED, which locks the rows that it changes. Readers never wait for
// it, and see it whole or not at all. Several processes may write at the same time. Row numbers are never given twice: they come
// from sequences.

package import Foundation
public import ManagedObjects
public import Logging
import PostgreSQL
import SQLSchema
import Synchronization

/// A store in a schema of a PostgreSQL database, whose tables people and their tools can read.
///
/// One table per entity hierarchy, with the root entity's name; one column per attribute, with the attribute's name; a to-one
/// relationship `owner` is the column `owner_id`, a foreign key. See ``SchemaMap``.
package final class PostgresStore: IncrementalStore {
  package var identifier: String { tables.identifier }
  package let url: URL?
  let options: PostgresStoreOptions
  let isReadOnly: Bool
  package let tables: PostgresTables
  let writer: PostgresWriter
  let numbers: PostgresNumbers
  let sessions: PostgresSessions
  /// How connections to it are opened.
  let access: PostgresAccess
  /// How long to wait for locks, and for a server that is gone.
  let timeout: TimeInterval
  private let readers: PostgresPool
  private let generations: PostgresPool
  private let announcer: PostgresAnnouncer
  private let channel: String
  /// Receives failures of work that no caller waits for.
  let report: @Sendable (StoreFailure) -> Void
  private let listener = Mutex<PostgresListener?>(nil)
  /// The last transaction of the history that was passed on.
  private let announced = Mutex<Int64?>(nil)
  /// What the copy is known by that this process has prepared to be the content. Not private: `PostgresStore+Copies` uses it.
  let preparation = Mutex<String?>(nil)
  /// Between two looks for what others have committed, where that isn't heard, in milliseconds.
  private static let pollInterval: Int32 = 1000

  /// Connects, and creates or migrates the tables.
  /// - Parameters:
  ///   - string: as libpq takes it.
  ///   - namespace: the PostgreSQL schema with the tables.
  ///   - newIdentifier: the identifier of a new store; nil to make one.
  ///   - timeout: how long to wait for locks, for a free connection, and for a server that is gone.
  package convenience init(
    _ string: String, schema namespace: String, model: ManagedObjectModel, entities: [EntityDescription],
    options: PostgresStoreOptions = .init(), migration: MigrationOptions = .init(), isReadOnly: Bool = false,
    newIdentifier: String? = nil, timeout: TimeInterval = 30, logger: Logger = Logger(label: "sql"),
    backgroundFailureHandler: (@Sendable (StoreFailure) -> Void)? = nil
  ) throws {
    let report = backgroundFailureHandler ?? PersistentStoreDescription.reportToStandardError
    var access = PostgresAccess(
      string, password: options.password, schema: namespace, lockTimeout: timeout,
      isSynchronous: options.durability == .everySave)
    let sessions = PostgresSessions(namespace: namespace, name: "postgres schema \(namespace)")
    access.outage = PostgresOutage { error in
      let told = PostgresError(
        isLoss: true, state: error.state, message: "\(error.message); trying again for up to \(Int(timeout)) seconds",
        detail: error.detail)
      report(PostgresFailure.failure(told, sessions.name))
    }
    let opening = PostgresOpening(
      model: model, entities: entities, access: access, sessions: sessions, migration: migration,
      isReadOnly: isReadOnly, newIdentifier: newIdentifier, timeout: timeout)
    var first = access
    if let shouldStop = migration.shouldStop { first.check = { if shouldStop() { throw MaintenanceStopped() } } }
    // Its connection isn't one of the store's, which wait until the store is open.
    let pool = PostgresPool(first, limit: 1, timeout: timeout)
    defer { pool.close() }
    let opened = try PostgresFailure.translating(sessions.name) {
      try pool.repeating { connection in
        let opened = try opening.open(connection)
        if options.persistentHistoryTracking, !isReadOnly {
          try connection.begin(then: "SELECT pg_advisory_xact_lock(hashtextextended('lade_history', 0))")
          try connection.run(PostgresHistoryWriter.tables)
          try connection.run("COMMIT")
        }
        return opened
      }
    }
    var using = access
    using.entry = sessions.entry(after: opened.migrations)
    let log = PostgresSQLLog(options.sqlLog, logger, store: sessions.name, using)
    if let log { using.trace = { log.note($0) } }
    self.init(
      using, sessions, opened, entities: entities, options: options, isReadOnly: isReadOnly, timeout: timeout, log: log,
      report: report)
  }

  /// A store whose tables are known to fit.
  /// - Parameter access: how its connections are opened.
  init(
    _ access: PostgresAccess, _ sessions: PostgresSessions, _ opened: PostgresOpening.Opened,
    entities: [EntityDescription], options: PostgresStoreOptions, isReadOnly: Bool, timeout: TimeInterval,
    log: PostgresSQLLog? = nil, report: @escaping @Sendable (StoreFailure) -> Void
  ) {
    url = nil
    self.options = options
    self.isReadOnly = isReadOnly
    self.sessions = sessions
    self.access = access
    self.timeout = timeout
    self.report = report
    let name = sessions.name
    tables = PostgresTables(of: entities, schema: opened.schema, identifier: opened.identifier, name: name, log: log)
    readers = PostgresPool(access, limit: options.readers, timeout: timeout)
    generations = PostgresPool(access, limit: options.generations, timeout: timeout)
    // Longer than any work between two statements of a transaction: a whole file may be read there.
    let writing = access.endingIdleTransactions(after: max(60, timeout * 2))
    writer = PostgresWriter(PostgresPool(writing, limit: 2, timeout: timeout), name: name, timeout: timeout)
    // A pool of its own: a save numbers rows while it holds a writing connection.
    numbers = PostgresNumbers(PostgresPool(access, limit: 1, timeout: timeout), name: name)
    channel = "lade_" + opened.identifier.lowercased()
    announcer = PostgresAnnouncer(readers, channel: channel)
  }

  package func snapshot() throws -> any StoreReader {
    try tables.translating { try PostgresGeneration(tables, generations) }
  }

  package func close() throws {
    try writer.refuseInTransaction("close the store")
    listener.withLock { listener in
      listener?.stop()
      listener = nil
    }
    announcer.finish()
    for pool in [readers, generations, writer.pool] { pool.close() }
    numbers.close()
    tables.log?.close()
  }

  package func synchronize() throws {
    try writer.refuseInTransaction("wait for the disk")
    guard !isReadOnly, options.durability == .soon else { return }
    // A commit that waits for the disk makes every earlier one durable.
    try tables.translating {
      try writer.write { connection in
        try connection.run("SET LOCAL synchronous_commit = on")
        try PostgresMetadata(connection).set("synchronized", String(Int(Date().timeIntervalSince1970)))
      }
    }
  }

  // MARK: Remote changes

  /// Follows what was committed by others.
  func follow(_ handler: @escaping @Sendable (Int64?) -> Void) {
    let tracks = tracksHistory
    let first = Atomic(true)
    if tracks {
      // What is committed from here on is news, also before the listener has connected.
      reporting {
        let last = try lastTransactionNumber()
        announced.withLock { $0 = last }
      }
    }
    listen(
      polls: true,
      { [weak self] news in
        guard let self else { return }
        // Without a history nothing is known to have changed before it has listened for the first time.
        let isFirst = first.exchange(false, ordering: .acquiringAndReleasing)
        if !tracks, news != .unheard {
          if !isFirst { handler(nil) }
          return
        }
        reporting {
          let last = try tracks ? lastTransactionNumber() : writtenRows()
          let isNew = announced.withLock { announced in
            defer { announced = last }
            // The server forgets what it has counted when it crashes.
            return announced.map { tracks ? $0 < last : $0 != last } ?? false
          }
          if isNew { handler(tracks ? last : nil) }
        }
      })
  }

  /// Has a failure of `body` reported.
  private func reporting(_ body: () throws -> Void) {
    do {
      try body()
    } catch let ManagedObjectError.store(failure) {
      report(failure)
    } catch {
      report(StoreFailure(.other, path: tables.name, message: "\(error)"))
    }
  }

  /// Listens to announcements.
  /// - Parameters:
  ///   - polls: whether `handler` is called from time to time where nothing is heard.
  ///   - heard: called each time with whether announcements are heard from now on.
  func listen(
    polls: Bool, _ handler: @escaping @Sendable (PostgresListener.News) -> Void,
    heard: @escaping @Sendable (Bool) -> Void = { _ in }
  ) {
    let new = PostgresListener(
      readers.access.direct(options.direct), channel: channel, isForListening: options.direct != nil,
      polls: polls ? Self.pollInterval : nil, handler: handler, heard: heard,
      failed: { [report, tables] error in report(PostgresFailure.failure(error, tables.name)) })
    listener.withLock { $0 = new }
  }

  /// The rows that were written by anybody, as the server has counted them some time ago.
  private func writtenRows() throws -> Int64 {
    try tables.translating {
      try read(isOneState: false) { connection in
        let rows = try connection.query(
          "SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint FROM pg_stat_user_tables "
            + "WHERE schemaname = current_schema()")
        return rows.int(0, 0)
      }
    }
  }

  /// Something was committed.
  package func announce() { announcer.announce() }
}

extension PostgresStore: PostgresReader {
  func read<T>(isOneState: Bool, _ body: (PostgresConnection) throws -> T) throws -> T {
    // A transaction of the thread sees what it has written.
    if let own = writer.ownConnection { return try body(own) }
    return try readers.repeating { connection in
      guard isOneState else { return try connection.settled { try body(connection) } }
      try connection.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY")
      let result = try body(connection)
      try connection.run("COMMIT")
      return result
    }
  }
}

/// One state of a store: a transaction that only reads, on a connection of its own.
///
/// While it exists, the server can't remove rows that were deleted since.
final class PostgresGeneration: PostgresReader, @unchecked Sendable {
  // Sendable: the connection is used under `lock`.
  let tables: PostgresTables
  private let pool: PostgresPool
  private let connection: PostgresConnection
  /// Recursive: a caller may run another query while it reads the rows of one.
  private let lock = NSRecursiveLock()

  init(_ tables: PostgresTables, _ pool: PostgresPool) throws {
    self.tables = tables
    self.pool = pool
    connection = try pool.repeating { _ in
      let connection = try pool.take()
      do {
        try connection.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY", then: "SELECT 1")
        return connection
      } catch {
        pool.giveBack(connection)
        throw error
      }
    }
  }

  deinit { pool.giveBack(connection) }

  func read<T>(isOneState: Bool, _ body: (PostgresConnection) throws -> T) throws -> T {
    try lock.withLock { try body(connection) }
  }
}

extension PersistentStoreDescription {
  /// A store in a PostgreSQL database. Its tables are in a schema of their own, which is created if it doesn't exist.
  /// - Parameters:
  ///   - connection: as libpq takes it: a URI such as `postgresql:///shop`, or keywords such as `service=shop`.
  ///   - schema: the PostgreSQL schema with the store's tables.
  ///   - configuration: the configuration whose entities the store holds.
  ///   - sqlLogger: receives the store's statements, as ``PostgresStoreOptions/sqlLog`` has it, at the level `info`.
  public static func postgres(
    _ connection: String, schema: String = "lade", configuration: String? = nil,
    options: PostgresStoreOptions = .init(),
    sqlLogger: Logger = Logger(label: "sql")
  ) -> PersistentStoreDescription {
    PersistentStoreDescription(type: .postgres, configuration: configuration) { model, entities, opening in
      try PostgresStore(
        connection, schema: schema, model: model, entities: entities, options: options,
        migration: opening.migration, isReadOnly: opening.isReadOnly, timeout: opening.timeout,
        logger: sqlLogger, backgroundFailureHandler: opening.backgroundFailureHandler)
    }
  }
}

extension PersistentStore.StoreType {
  /// A PostgreSQL database: ``PersistentStoreDescription/postgres(_:schema:configuration:options:)``.
  public static let postgres = PersistentStore.StoreType(rawValue: "PostgreSQL")
}
