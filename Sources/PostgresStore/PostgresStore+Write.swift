package import Foundation
package import ManagedObjects
import PostgreSQL
import SQLSchema

extension PostgresStore {
  /// Writes a save in one transaction: checks that the rows to change are as they were read, then deletes, changes and inserts
  /// rows, then writes pairs of many-to-many relationships.
  package func write(_ changes: StoreChanges) throws -> StoreWriteResult {
    let result = try tables.translating {
      try writer.write { connection in
        var history: PostgresHistoryWriter?
        return try write(changes, isChecked: true, on: connection, history: &history)
      }
    }
    noteCommit()
    return result
  }

  /// Writes changes within a transaction, which the caller rolls back if it throws.
  /// - Parameters:
  ///   - isChecked: whether rows may have changed since they were read, and must be checked.
  ///   - history: records the transaction's changes; made by its first write.
  func write(
    _ changes: StoreChanges, isChecked: Bool, on connection: PostgresConnection,
    history: inout PostgresHistoryWriter?
  ) throws -> StoreWriteResult {
    if isChecked { try PostgresRowWrite(connection, of: writer, tables, numbers).check(changes) }
    var changes = changes
    var derivations = tables.hasDerivations ? DerivationWrite() : nil
    var derived = PostgresDerived(connection: connection, tables: tables)
    try derivations?.prepare(&changes, derived)
    try connection.begin(part: "lade_rows")
    let written: Written
    do {
      written = try rows(changes, isCareful: false, connection)
    } catch let error as PostgresError where error.state == "23505" {
      try connection.rollBack(part: "lade_rows")
      written = try rows(changes, isCareful: true, connection)
    }
    let refreshed = try derivations?.finish(changes, written.ids, number: written.write.number, to: &derived) ?? []
    if options.persistentHistoryTracking {
      let writer =
        history
        ?? PostgresHistoryWriter(connection, author: changes.transactionAuthor, contextName: changes.contextName)
      history = writer
      var notes: [HistoryNote] = []
      try HistoryNote.each(changes, ids: written.ids, owners: isChecked ? OwnerChanges(changes) : nil) { owner in
        try derived.id(of: owner.number, in: owner.entity)
      } note: {
        notes.append($0)
      }
      try writer.note(notes)
    }
    var result = StoreWriteResult(ids: written.ids, savedRows: written.savedRows, refreshed: refreshed)
    result.historyToken = history?.transaction.map { PersistentHistoryToken([identifier: $0]) }
    return result
  }

  private struct Written {
    let write: PostgresRowWrite
    let ids: [ManagedObjectID]
    let savedRows: [SavedRows]
  }

  private func rows(
    _ changes: StoreChanges, isCareful: Bool, _ connection: PostgresConnection
  ) throws -> Written {
    let write = PostgresRowWrite(connection, of: writer, tables, numbers)
    try write.delete(changes.deleted)
    let ids = try write.assignIDs(to: changes.inserted)
    try write.update(changes.updated, isCareful: isCareful)
    try write.insert(changes.inserted, ids, isCareful: isCareful)
    let savedRows = try changes.newRows.map { try write.insert($0, isCareful: isCareful) }
    try write.throwConflicts(changes, ids)
    try write.writePairs(changes, ids)
    try write.writeOrders(changes, ids)
    try write.checkReferences(changes, ids, savedRows)
    return Written(write: write, ids: ids, savedRows: savedRows)
  }

  /// Runs a batch request in one transaction: readers see nothing of it before the commit.
  package func transaction<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
    let result = try tables.translating {
      try writer.writeOnce { connection in try body(PostgresTransaction(of: self, on: connection)) }
    }
    noteCommit()
    return result
  }

  package func inOneTransaction<T>(_ body: () throws -> (T, TransactionEnd)) throws -> T {
    let result = try tables.translating { try writer.inOneTransaction(body) }
    noteCommit()
    return result
  }

  private func noteCommit() {
    if options.announcesCommits, writer.ownConnection == nil { announce() }
  }

  package func permanentIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID] {
    try tables.translating {
      var ids: [ManagedObjectID] = []
      ids.reserveCapacity(entities.count)
      // Most are of one entity.
      while ids.count < entities.count {
        let entity = entities[ids.count]
        let layout = try tables.layout(of: entity)
        let run = entities[ids.count...].prefix { $0 === entity }.count
        let first = try numbers.take(run, layout, within: writer.ownConnection)
        for number in first..<first + Int64(run) { ids.append(ManagedObjectID(scope: layout.scope, number: number)) }
      }
      return ids
    }
  }
}

extension PostgresStore: SharedStore {
  package func time() throws -> Date {
    try tables.translating {
      try read(isOneState: false) { connection in
        let now = try connection.query("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
        return ISODate.date(microseconds: now.int(0, 0))
      }
    }
  }

  /// By an advisory lock of the transaction, which a pooler between leaves where it is.
  package func lock(_ name: String, isShared: Bool, waits: Bool) throws -> Bool {
    try tables.translating {
      guard let connection = writer.ownConnection else { throw StoreTransactionError.lost(path: tables.name) }
      let key = "hashtextextended($1, 0)"
      let parameters = [PostgresValue.text("\(tables.name) \(name)")]
      let suffix = isShared ? "_shared" : ""
      if waits {
        try connection.query("SELECT pg_advisory_xact_lock\(suffix)(\(key))", parameters)
        return true
      }
      return try connection.query("SELECT pg_try_advisory_xact_lock\(suffix)(\(key))::int::bigint", parameters).int(
        0, 0)
        == 1
    }
  }

  private static let counter = "lade_commits"

  /// By a sequence, which no transaction locks. It moves after the commit, which is seen by then.
  package func countCommits() throws {
    try tables.translating {
      try writer.write { connection in
        try connection.run("SELECT pg_advisory_xact_lock(hashtextextended('\(Self.counter)', 0))")
        guard try connection.text("SELECT to_regclass('\(Self.counter)')") == nil else { return }
        // Without a log, no commit waits for the disk because of it.
        let kind = connection.serverVersion >= 150_000 ? "UNLOGGED SEQUENCE" : "SEQUENCE"
        // The look may have been at the catalogue of before the wait for the lock.
        try connection.run("CREATE \(kind) IF NOT EXISTS \(Self.counter)")
      }
    }
    // After the transaction a session behind a pooler has no schema of its own.
    let counter = "\(SQLText.name(sessions.namespace)).\(Self.counter)"
    writer.afterCommits(run: "SELECT nextval(\(SQLText.literal(counter)))")
  }

  package func commits() throws -> Int64 {
    try tables.translating {
      try read(isOneState: false) { connection in
        try connection.query("SELECT last_value + is_called::int FROM \(Self.counter)").int(0, 0)
      }
    }
  }

  package func setTime(
    _ attribute: AttributeDescription, of id: ManagedObjectID, ahead seconds: TimeInterval
  ) throws -> Date? {
    try tables.translating {
      let layout = try tables.layout(of: id.entity)
      guard let column = layout.columns.first(where: { $0.slot == attribute.slot }).map({ SQLText.name($0.name) })
      else { return nil }
      // Not by the writer, which may be waiting for others. It may run twice.
      return try read(isOneState: false) { connection in
        let rows = try connection.query(
          "UPDATE \(SQLText.name(layout.table)) SET \(column) = clock_timestamp() + $1 * interval '1 second' "
            + "WHERE \(SQLText.name(layout.keyColumn)) = $2 RETURNING (extract(epoch FROM \(column)) * 1000000)::bigint",
          [.double(seconds), .int(id.number)])
        guard rows.count > 0 else { return nil }
        return ISODate.date(microseconds: rows.int(0, 0)).addingTimeInterval(-seconds)
      }
    }
  }

  package func listen(_ handler: @escaping @Sendable (StoreNews) -> Void) throws {
    listen(
      polls: false,
      { news in
        switch news {
        case .connected: handler(.connected)
        case .announced: handler(.announcement)
        case .unheard: break
        }
      }, heard: { isHeard in if !isHeard { handler(.disconnected) } })
  }
}

extension PostgresStore: NumberKeeping {
  package func highestNumber() throws -> Int64 {
    try tables.translating { try numbers.highest(tables.layouts.values) }
  }

  package func raiseNumbers(above number: Int64) throws {
    guard number > 0 else { return }
    try tables.translating { try numbers.raise(above: number, tables.layouts.values) }
  }
}

extension PostgresStore: MetadataKeeping {
  package func metadata() throws -> PersistentStoreMetadata {
    try tables.translating {
      try read(isOneState: true) { connection in
        let metadata = PostgresMetadata(connection)
        let kept = try StoredVersion(path: tables.name) { try metadata.text($0) }
        var userInfo: [String: Value] = [:]
        if let text = try metadata.text("user_info") {
          userInfo = try JSONDecoder().decode([String: Value].self, from: Data(text.utf8))
        }
        return PersistentStoreMetadata(
          storeType: PersistentStore.StoreType.postgres.rawValue, storeIdentifier: identifier,
          modelVersionHashes: kept?.hashes ?? [:], modelVersionIdentifiers: Set(kept?.identifiers ?? []),
          userInfo: userInfo, modelText: kept?.modelText)
      }
    }
  }

  package func setUserInfo(_ userInfo: [String: Value]) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let text = String(decoding: try encoder.encode(userInfo), as: UTF8.self)
    try tables.translating { try writer.write { try PostgresMetadata($0).set("user_info", text) } }
  }
}

extension PostgresStore {
  /// Checks whether a store can be opened with a model, as far as that follows from the model and from the one that the store
  /// contains. Changes nothing, and leaves what depends on the rows to the migration.
  /// - Throws: ``SchemaError`` when the model has no tables, ``MigrationError``, or ``ManagedObjectError/store(_:)`` when the
  ///   server can't be reached.
  package static func checkMigration(
    _ string: String, schema: String, password: String?, to model: ManagedObjectModel, _ options: MigrationOptions
  ) throws {
    _ = try SchemaMap(model: model, PostgresDialect.self)
    let name = "postgres schema \(schema)"
    try PostgresFailure.translating(name) {
      let connection = try PostgresAccess(string, password: password, schema: schema).connect()
      let kept: StoredVersion? = try connection.settled {
        guard try connection.text("SELECT to_regclass('lade_metadata')") != nil else { return nil }
        let metadata = PostgresMetadata(connection)
        return try StoredVersion(path: name) { try metadata.text($0) }
      }
      if let kept { try MigrationRoute.check(from: kept, to: model, model.entities, options, store: name) }
    }
  }
}

/// A batch request's view of a store: the writing connection.
private final class PostgresTransaction: PostgresReader, StoreTransaction, @unchecked Sendable {
  // Sendable: it is used only by the thread that runs the transaction, while that runs.
  private let store: PostgresStore
  var tables: PostgresTables { store.tables }
  private let connection: PostgresConnection
  /// Records all writes of the batch as one transaction of the history; nil before the first.
  private var history: PostgresHistoryWriter?

  init(of store: PostgresStore, on connection: PostgresConnection) {
    self.store = store
    self.connection = connection
  }

  func read<T>(isOneState: Bool, _ body: (PostgresConnection) throws -> T) throws -> T { try body(connection) }

  func write(_ changes: StoreChanges) throws -> StoreWriteResult {
    try tables.translating {
      try connection.begin(part: "lade_batch")
      do {
        let result = try store.write(changes, isChecked: false, on: connection, history: &history)
        try connection.end(part: "lade_batch")
        return result
      } catch {
        if connection.isOpen { try connection.rollBack(part: "lade_batch") }
        throw error
      }
    }
  }
}
