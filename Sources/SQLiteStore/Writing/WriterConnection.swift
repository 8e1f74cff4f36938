// Everything that writes to a store's file comes through here, one at a time. A thread may keep the connection for a
// transaction that lasts over many writes (`inOneTransaction`). While it does:
//   1. what this thread writes becomes a savepoint of that transaction, which can fail and be tried again by itself;
//   2. what this thread reads is read on this connection, and sees what has been written so far;
//   3. other threads read what was committed last, and wait when they want to write;
//   4. once SQLite has given the transaction up, nothing more is written: it would be committed by itself.

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
  /// Follows the connection's commits, and so lives as long; nil for a file that is only read.
  private let copier: LogCopier?
  private let path: String
  /// Held by whoever writes: for one write, or for a transaction of many. Recursive, for the writes of the latter.
  private let lock = NSRecursiveLock()
  /// The thread whose transaction of many writes is open, 0 for none.
  private let owner = Atomic<UInt>(0)
  /// Whether a closure runs on the connection: what that reads itself is read on another.
  private var isInUse = false
  /// The last numbers given to rows within transactions of many writes, by table. Kept when one is rolled back: whoever
  /// has one of these IDs mustn't find another row by it.
  private var lastNumbers: [String: Int64] = [:]

  init(_ pool: DatabasePool, copier: LogCopier?, path: String) {
    self.pool = pool
    self.copier = copier
    self.path = path
  }

  deinit { copier?.stop() }

  /// Waits until what is being copied from the write-ahead log is, and has it copied by the saves themselves from then on.
  func stopCopying() { copier?.stop() }

  /// Whether the calling thread's transaction of many writes is open.
  var isInTransaction: Bool { owner.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// Runs `body` on the connection, outside of a transaction but within one of many writes.
  func withoutTransaction<T>(_ body: (Database) throws -> T) throws -> T {
    try lock.withLock {
      isInUse = true
      defer { isInUse = false }
      return try pool.writeWithoutTransaction(body)
    }
  }

  /// Runs `body` on the connection while nothing is copied from the write-ahead log beside it: a checkpoint of its own would
  /// find that in the way. What `body` commits may be copied after it.
  func withoutCopying<T>(_ body: (Database) throws -> T) throws -> T {
    try withoutTransaction { db in
      copier?.rest()
      return try body(db)
    }
  }

  /// Runs `body` in a transaction, which is rolled back if it throws.
  func write<T>(_ body: (Database) throws -> T) throws -> T {
    try withoutTransaction { db in try transaction(on: db) { try body(db) } }
  }

  /// Runs `body` in a transaction, or in a savepoint of the one that is open, on the connection as ``withoutTransaction(_:)``
  /// has it.
  func transaction<T>(on db: Database, _ body: () throws -> T) throws -> T {
    var result: Result<T, any Error>?
    guard isInTransaction else {
      try db.inTransaction(.immediate) {
        result = .success(try body())
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
    guard isInTransaction, !isInUse else { return try pool.read(body) }
    return try withoutTransaction { db in
      try checkTransaction(db)
      return try body(db)
    }
  }

  /// Runs `body`, with all that the calling thread writes meanwhile in one transaction.
  func inOneTransaction<T>(_ body: () throws -> (T, TransactionEnd)) throws -> T {
    try lock.withLock {
      guard !isInTransaction, !isInUse else { throw StoreTransactionError.nested(path: path) }
      try pool.writeWithoutTransaction { db in try db.beginTransaction(.immediate) }
      owner.store(UInt(pthread_self()), ordering: .relaxed)
      defer { owner.store(0, ordering: .relaxed) }
      do {
        let (result, end) = try body()
        try pool.writeWithoutTransaction { db in
          switch end {
          case .rollBack: try db.rollback()
          case .commit:
            try checkTransaction(db)
            try db.commit()
          }
        }
        return result
      } catch {
        // Does nothing where SQLite has done it already.
        try pool.writeWithoutTransaction { db in try db.rollback() }
        throw error
      }
    }
  }

  /// Stops what can't be done in the midst of a transaction.
  func refuseInTransaction(_ operation: String) throws {
    if isInTransaction { throw StoreTransactionError.refused(operation: operation, path: path) }
  }

  // MARK: Row numbers

  /// The last number that a transaction of many writes gave a row of a table, whether or not it was committed. On the connection only.
  func lastNumber(of table: String) -> Int64 { lastNumbers[table] ?? 0 }

  /// Notes the last numbers that a write gave. On the connection only.
  func note(_ numbers: [String: Int64]) {
    if isInTransaction { lastNumbers.merge(numbers) { max($0, $1) } }
  }

  // MARK: What SQLite says

  private func checkTransaction(_ db: Database) throws {
    guard db.isInsideTransaction else { throw StoreTransactionError.lost(path: path) }
  }

  /// Refuses at the end of a savepoint what a commit would refuse: references that lead nowhere.
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
