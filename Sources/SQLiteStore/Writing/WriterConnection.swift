// Every write to a store's file goes through here, one at a time. A thread may keep the connection for a transaction of
// several writes (`inOneTransaction`). While it does:
//   1. each write of this thread is a savepoint of that transaction, which can fail and be tried again by itself;
//   2. reads of this thread use this connection, and see everything written so far;
//   3. other threads read the last committed state, and wait before they write;
//   4. once SQLite has rolled the transaction back, nothing more is written: it would be committed on its own.

import Foundation
import GRDB
import GRDBSQLite
import Glibc
import ManagedObjects
import Synchronization

/// The connection that writes to a store's file. Safe from any thread.
final class WriterConnection: @unchecked Sendable {
  // Sendable: `isInUse` and `lastNumbers` are read and written by the thread that holds the lock; the rest is constant or
  // atomic.
  let pool: DatabasePool
  /// Follows the connection's commits, and so lives as long as it does; nil for a file that is only read.
  private let checkpointer: WALCheckpointer?
  let path: String
  /// Notices that a file that is only read has been replaced; nil for one that is written, which is locked.
  private let constancy: FileConstancy?
  /// The values in files beside the store; nil when there can't be any.
  private let external: ExternalFiles?
  /// The write lock, held for one write or for a transaction of several. Recursive, for the writes of the latter.
  private let lock = NSRecursiveLock()
  /// The thread whose transaction of several writes is open, 0 for none.
  private let owner = Atomic<UInt>(0)
  /// Whether a closure runs on the connection. Its own reads use another connection.
  private var isInUse = false
  /// The last numbers given to rows within transactions of several writes, by table. Kept after a rollback: an ID that was
  /// given out mustn't lead to another row.
  private var lastNumbers: [String: Int64] = [:]

  init(
    _ pool: DatabasePool, checkpointer: WALCheckpointer?, path: String, constancy: FileConstancy? = nil,
    external: ExternalFiles? = nil
  ) {
    self.constancy = constancy
    self.external = external
    self.pool = pool
    self.checkpointer = checkpointer
    self.path = path
  }

  deinit { checkpointer?.stop() }

  /// Waits for a checkpoint in progress. From then on saves checkpoint by themselves.
  func stopCheckpointing() { checkpointer?.stop() }

  /// Whether the calling thread has a transaction of several writes open.
  var isInTransaction: Bool { owner.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// Runs `body` on the connection without a transaction of its own; it may be part of one of several writes.
  func withoutTransaction<T>(_ body: (Database) throws -> T) throws -> T {
    try lock.withLock {
      isInUse = true
      defer { isInUse = false }
      return try pool.writeWithoutTransaction(body)
    }
  }

  /// Runs `body` on the connection while the checkpointer is idle, which would block a checkpoint that `body` runs. What `body`
  /// commits may be checkpointed after it.
  func withCheckpointsPaused<T>(_ body: (Database) throws -> T) throws -> T {
    try withoutTransaction { db in
      checkpointer?.waitUntilIdle()
      return try body(db)
    }
  }

  /// Runs `body` in a transaction, which is rolled back if it throws.
  func write<T>(_ body: (Database) throws -> T) throws -> T {
    try withoutTransaction { db in try transaction(on: db) { try body(db) } }
  }

  /// Runs `body` in a transaction, or in a savepoint of the open one, on the connection that ``withoutTransaction(_:)`` passes.
  func transaction<T>(on db: Database, _ body: () throws -> T) throws -> T {
    var result: Result<T, any Error>?
    guard isInTransaction else {
      defer { external?.settle(db) }
      try db.inTransaction(.immediate) {
        result = .success(try body())
        try external?.data.willCommit()
        return .commit
      }
      return try Self.value(of: result)
    }
    try checkTransaction(db)
    try db.inSavepoint {
      result = .success(try body())
      try Self.checkForeignKeys(db)
      return .commit
    }
    return try Self.value(of: result)
  }

  /// Runs `body` on a connection that sees one state of the file.
  func read<T>(_ body: (Database) throws -> T) throws -> T {
    try constancy?.check()
    guard isInTransaction, !isInUse else { return try pool.read(body) }
    return try withoutTransaction { db in
      try checkTransaction(db)
      return try body(db)
    }
  }

  /// Runs `body` with everything that the calling thread writes in it in one transaction.
  func inOneTransaction<T>(_ body: () throws -> (T, TransactionEnd)) throws -> T {
    try lock.withLock {
      guard !isInTransaction, !isInUse else { throw StoreTransactionError.nested(path: path) }
      try pool.writeWithoutTransaction { db in try db.beginTransaction(.immediate) }
      owner.store(UInt(pthread_self()), ordering: .relaxed)
      defer { owner.store(0, ordering: .relaxed) }
      defer { settleExternal() }
      do {
        let (result, end) = try body()
        try pool.writeWithoutTransaction { db in
          switch end {
          case .rollBack: try db.rollback()
          case .commit:
            try checkTransaction(db)
            try external?.data.willCommit()
            try db.commit()
          }
        }
        return result
      } catch {
        // Does nothing if SQLite has rolled back already.
        try pool.writeWithoutTransaction { db in try db.rollback() }
        throw error
      }
    }
  }

  /// After a transaction of several writes.
  private func settleExternal() {
    if let external { pool.writeWithoutTransaction { db in external.settle(db) } }
  }

  /// Refuses an operation that is impossible within a transaction of several writes.
  func refuseInTransaction(_ operation: String) throws {
    if isInTransaction { throw StoreTransactionError.refused(operation: operation, path: path) }
  }

  // MARK: Row numbers

  /// The last number that a transaction of several writes gave to a row of a table, committed or not. On the connection only.
  func lastNumber(of table: String) -> Int64 { lastNumbers[table] ?? 0 }

  /// Keeps the last numbers that a write gave. On the connection only.
  func note(_ numbers: [String: Int64]) {
    if isInTransaction { lastNumbers.merge(numbers) { max($0, $1) } }
  }

  // MARK: Checks

  private func checkTransaction(_ db: Database) throws {
    guard db.isInsideTransaction else { throw StoreTransactionError.lost(path: path) }
  }

  /// Refuses broken references at the end of a savepoint, as a commit would.
  private static func checkForeignKeys(_ db: Database) throws {
    var (broken, highest): (Int32, Int32) = (0, 0)
    sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_DEFERRED_FKS, &broken, &highest, 0)
    guard broken == 0 else {
      throw DatabaseError(resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: "FOREIGN KEY constraint failed")
    }
  }

  private static func value<T>(of result: Result<T, any Error>?) throws -> T {
    guard let result else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
    return try result.get()
  }
}
