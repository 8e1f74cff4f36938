import GRDB
import GRDBSQLite
package import ManagedObjects

extension SQLiteStore {
  /// History and derived attributes need rows as objects have them.
  package var takesNewRows: Bool { !hasDerivations && !options.persistentHistoryTracking }

  /// Writes a save in one transaction: checks that the rows to change are as they were read, then deletes, changes and inserts
  /// rows, then writes pairs of many-to-many relationships. Foreign keys are checked at the commit, so the order among rows
  /// doesn't matter.
  package func write(_ changes: StoreChanges) throws -> StoreWriteResult {
    try translating {
      let known = writer.isInTransaction ? nil : knownTargets
      return try writer.withoutTransaction { db in
        do {
          return try writer.transaction(on: db) {
            var history: HistoryWriter?
            return try write(changes, isChecked: true, in: db, history: &history, known)
          }
        } catch {
          // What it has read may have been its own.
          known?.forget()
          throw error
        }
      }
    }
  }

  /// Writes changes within a transaction, which the caller rolls back if it throws.
  /// - Parameters:
  ///   - isChecked: whether rows may have changed since they were read, and must be checked.
  ///   - history: records the transaction's changes; made by its first write.
  ///   - known: targets that are known to be there; for a write that is a transaction.
  func write(
    _ changes: StoreChanges, isChecked: Bool, in db: Database, history: inout HistoryWriter?,
    _ known: KnownTargets? = nil
  ) throws -> StoreWriteResult {
    let write = try RowWrite(db, store: self, known)
    if isChecked { try write.check(changes) }
    var changes = changes
    var derivations = hasDerivations ? DerivationWrite() : nil
    var derived = DerivedTables(db: db, tables: tables)
    try derivations?.prepare(&changes, derived)
    try write.delete(changes.deleted)
    let ids = try write.assignIDs(to: changes.inserted, changes.updated)
    try write.update(changes.updated)
    try write.insert(changes.inserted, ids)
    let savedRows = try changes.newRows.map { try write.insert($0) }
    try write.writePairs(changes, ids)
    try write.writeOrders(changes, ids)
    let refreshed = try derivations?.finish(changes, ids, number: write.number, to: &derived) ?? []
    try write.finish(changes, ids, savedRows)
    if options.persistentHistoryTracking {
      let writer = history ?? HistoryWriter(db, author: changes.transactionAuthor, contextName: changes.contextName)
      history = writer
      try writer.note(changes, ids: ids, owners: isChecked ? OwnerChanges(changes) : nil) { owner in
        try derived.id(of: owner.number, in: owner.entity)
      }
    }
    var result = StoreWriteResult(ids: ids, savedRows: savedRows, refreshed: refreshed)
    result.historyToken = history?.transaction.map { PersistentHistoryToken([identifier: $0]) }
    return result
  }

  package func permanentNumbers(_ count: Int, of entity: EntityDescription) throws -> (scope: IDScope, first: Int64) {
    try translating {
      try writer.write { db in
        var numbers = RowNumbers(of: writer)
        let layout = try self.layout(of: entity)
        let first = try numbers.take(count, layout, db)
        try numbers.keep(db)
        return (layout.scope, first)
      }
    }
  }

  package func permanentIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID] {
    try translating {
      try writer.write { db in
        var numbers = RowNumbers(of: writer)
        var ids: [ManagedObjectID] = []
        ids.reserveCapacity(entities.count)
        // Most are of one entity.
        while ids.count < entities.count {
          let entity = entities[ids.count]
          let layout = try self.layout(of: entity)
          let run = entities[ids.count...].prefix { $0 === entity }.count
          let first = try numbers.take(run, layout, db)
          let scope = layout.scope
          for number in first...first + Int64(run - 1) { ids.append(ManagedObjectID(scope: scope, number: number)) }
        }
        try numbers.keep(db)
        return ids
      }
    }
  }
}

extension SQLiteStore {
  /// Runs a batch request in one transaction of SQLite: readers see nothing of it before the commit.
  package func transaction<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
    try translating {
      try writer.write { db in try body(SQLiteTransaction(of: self, on: db)) }
    }
  }

  /// Keeps the writing connection for one transaction: see ``WriterConnection``.
  package func inOneTransaction<T>(_ body: () throws -> (T, TransactionEnd)) throws -> T {
    try translating { try writer.inOneTransaction(body) }
  }
}

/// A batch request's view of an SQLite store: the writing connection.
private final class SQLiteTransaction: SQLiteStoreReader, StoreTransaction, @unchecked Sendable {
  // Sendable: it is used only by the thread that runs the transaction, while that runs.
  private let store: SQLiteStore
  package var tables: StoreTables { store.tables }
  private let db: Database
  /// Records all writes of the batch as one transaction of the history; nil before the first.
  private var history: HistoryWriter?

  init(of store: SQLiteStore, on db: Database) {
    self.store = store
    self.db = db
  }

  func read<T>(_ body: (Database) throws -> T) throws -> T { try body(db) }

  func write(_ changes: StoreChanges) throws -> StoreWriteResult {
    var result = StoreWriteResult(ids: [])
    try db.inSavepoint {
      result = try store.write(changes, isChecked: false, in: db, history: &history)
      return .commit
    }
    return result
  }
}
