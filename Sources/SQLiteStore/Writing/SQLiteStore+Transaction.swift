import GRDB
package import ManagedObjects

extension SQLiteStore {
  /// Runs a batch in one transaction of SQLite: readers see nothing of it before it is committed.
  package func transaction<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
    try translating {
      try writer.write { db in try body(SQLiteTransaction(of: self, on: db)) }
    }
  }

  /// Keeps the connection that writes for one transaction: see ``WriterConnection``.
  package func inOneTransaction<T>(_ body: () throws -> (T, TransactionEnd)) throws -> T {
    try translating { try writer.inOneTransaction(body) }
  }
}

/// A batch's view of an SQLite store: the connection that writes.
private final class SQLiteTransaction: SQLiteReader, StoreTransaction, @unchecked Sendable {
  // Sendable: it is used by the thread that runs the transaction, for as long as that runs.
  let store: SQLiteStore
  private let db: Database
  /// Notes all that the batch writes, by however many writes, as one transaction; none before the first.
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
