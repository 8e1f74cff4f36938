// One transaction writes at a time in a process; those of other processes meet at the rows. A transaction that the server has
// refused or lost before its COMMIT was sent has had no effect, and a save runs again. Whether one was committed whose answer was
// lost is asked of the server by the transaction's number. Where a standby has taken over, that number may be another's, or nobody's
// yet: only that it wasn't committed can be told then.

import Foundation
import ManagedObjects
import PostgreSQL
import Synchronization

/// Gives transactions the connection that they write on. Safe from any thread.
final class PostgresWriter: @unchecked Sendable {
  // Sendable: `Open` is accessed under `state`; the connection in it by its thread alone.

  /// A transaction of several writes.
  private struct Open {
    let connection: PostgresConnection
    let thread: pthread_t
    /// Whether it has written anything. One that has only locked rows changes nothing for others.
    var hasWritten = false
    /// Names it, once it has written something.
    var number: TransactionNumber?
  }

  let pool: PostgresPool
  private let name: String
  private let timeout: TimeInterval
  /// Held by the thread that writes. Recursive, for the writes of a transaction of several.
  private let lock = NSRecursiveLock()
  private let state = Mutex<Open?>(nil)
  /// What follows each commit that has written something; nil for nothing.
  private let sequel = Mutex<String?>(nil)

  init(_ pool: PostgresPool, name: String, timeout: TimeInterval) {
    self.pool = pool
    self.name = name
    self.timeout = timeout
  }

  /// The connection of the calling thread's transaction of several writes; nil outside of one.
  var ownConnection: PostgresConnection? {
    state.withLock { open in
      guard let open, pthread_equal(open.thread, pthread_self()) != 0 else { return nil }
      return open.connection
    }
  }

  /// Has a statement run after each commit that has written something.
  func afterCommits(run statement: String) { sequel.withLock { $0 = statement } }

  private func noteWrite() { state.withLock { $0?.hasWritten = true } }

  /// Runs what is queued of a transaction's writes.
  func runQueue(of connection: PostgresConnection) throws {
    guard ownConnection === connection else { return try connection.runQueue() }
    // Its number is asked for along with that, and isn't at the end.
    let rows = try connection.queries([(TransactionNumber.current, [])])
    let number = TransactionNumber(rows.first?.optionalText(0, 0))
    state.withLock { $0?.number = number }
  }

  /// - Throws: ``StoreTransactionError/refused(operation:path:)`` within a transaction of several writes.
  func refuseInTransaction(_ operation: String) throws {
    if ownConnection != nil { throw StoreTransactionError.refused(operation: operation, path: name) }
  }

  /// Runs work that may run again in a transaction, or in a savepoint of the thread's own one.
  func write<T>(_ body: (PostgresConnection) throws -> T) throws -> T {
    try lock.withLock {
      if let own = ownConnection {
        guard own.isOpen else { throw StoreTransactionError.lost(path: name) }
        noteWrite()
        try own.begin(part: "lade_write")
        do {
          let result = try body(own)
          try own.end(part: "lade_write")
          return result
        } catch {
          guard own.isOpen else { throw error }
          try own.rollBack(part: "lade_write")
          try own.end(part: "lade_write")
          throw error
        }
      }
      return try repeating { try transaction($0, body) }
    }
  }

  /// Runs work once in a transaction: it may have effects elsewhere.
  func writeOnce<T>(_ body: (PostgresConnection) throws -> T) throws -> T {
    try lock.withLock {
      if let own = ownConnection {
        noteWrite()
        return try body(own)
      }
      var failure: (any Error)?
      let result: T? = try repeating { connection in
        failure = nil
        do {
          return try transaction(connection) { connection in
            do {
              return try body(connection)
            } catch {
              // Once it has begun, it doesn't run again.
              failure = error
              throw Ended()
            }
          }
        } catch is Ended {
          return nil
        }
      }
      if let failure { throw failure }
      guard let result else { throw StoreTransactionError.lost(path: name) }
      return result
    }
  }

  private struct Ended: Error {}

  /// Runs `body` with everything that the thread reads and writes in one transaction.
  func inOneTransaction<T>(_ body: () throws -> (T, TransactionEnd)) throws -> T {
    lock.lock()
    defer { lock.unlock() }
    guard ownConnection == nil else { throw StoreTransactionError.nested(path: name) }
    let connection = try repeating { (connection: PostgresConnection?) in
      let connection = try connection ?? pool.take()
      do {
        if connection.isClosed { throw PostgresError(isLoss: true, message: "the server has closed the connection") }
        try connection.beginSoon()
        return connection
      } catch {
        pool.giveBack(connection)
        throw error
      }
    }
    state.withLock { $0 = Open(connection: connection, thread: pthread_self()) }
    defer {
      state.withLock { $0 = nil }
      pool.giveBack(connection)
    }
    let (result, end) = try body()
    guard connection.isOpen else { throw StoreTransactionError.lost(path: name) }
    guard end == .commit else {
      try connection.rollBack()
      return result
    }
    guard connection.canCommit else { throw StoreTransactionError.lost(path: name) }
    let number: TransactionNumber?
    do {
      number = try state.withLock { $0?.number } ?? TransactionNumber(of: connection)
    } catch let error as PostgresError where error.isLoss {
      // The COMMIT wasn't sent.
      throw StoreTransactionError.lost(path: name)
    }
    let hasWritten = state.withLock { $0?.hasWritten ?? false }
    guard try commit(connection, number, hasWritten: hasWritten) else { throw StoreTransactionError.lost(path: name) }
    return result
  }

  // MARK: Transactions

  /// Names one transaction of all: a standby that takes over begins a timeline, and gives numbers again that it hasn't seen.
  private struct TransactionNumber {
    let number: String
    let timeline: String

    static let currentTimeline = "left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)"
    static let current = "SELECT pg_current_xact_id_if_assigned()::text || ' ' || \(currentTimeline)"

    /// Nil for a transaction that has written nothing.
    init?(of connection: PostgresConnection) throws { self.init(try connection.text(Self.current)) }

    /// - Parameter text: the answer to ``current``.
    init?(_ text: String?) {
      guard let names = text?.split(separator: " "), names.count == 2 else { return nil }
      number = String(names[0])
      timeline = String(names[1])
    }
  }

  /// Runs `body` and commits.
  /// - Throws: ``PostgresError`` when it had no effect.
  private func transaction<T>(_ connection: PostgresConnection, _ body: (PostgresConnection) throws -> T) throws -> T {
    try connection.begin()
    let result = try body(connection)
    let number = try TransactionNumber(of: connection)
    guard try commit(connection, number, hasWritten: number != nil) else {
      throw PostgresError(isLoss: true, message: "the server has rolled the transaction back")
    }
    return result
  }

  /// Commits. Returns whether it is committed.
  /// - Throws: the server's error when it refuses to, ``StoreFailure`` when it can't be told.
  private func commit(
    _ connection: PostgresConnection, _ number: TransactionNumber?, hasWritten: Bool
  ) throws -> Bool {
    do {
      try connection.commit(andThen: hasWritten ? sequel.withLock { $0 } : nil)
      return true
    } catch let error as PostgresError where error.isLoss {
      guard let number else { return true }
      return try isCommitted(number, error)
    }
  }

  private func isCommitted(_ transaction: TransactionNumber, _ loss: PostgresError) throws -> Bool {
    var access = pool.access
    access.entry = nil
    let outside = PostgresPool(access, limit: 1, timeout: timeout)
    defer { outside.close() }
    let end = Date(timeIntervalSinceNow: timeout)
    while Date() < end {
      // Also of a store that was migrated since, which lets no connection in. The status of a number not given yet is an error.
      let (answer, isSameTimeline) = try outside.repeating { connection in
        let row = try connection.query(
          """
          SELECT \(TransactionNumber.currentTimeline) = $2,
            CASE WHEN \(TransactionNumber.currentTimeline) = $2 OR $1::text::xid8 < pg_snapshot_xmax(pg_current_snapshot())
            THEN pg_xact_status($1::text::xid8) ELSE 'aborted' END
          """, [.text(transaction.number), .text(transaction.timeline)])
        return (row.optionalText(0, 1), row.bool(0, 0))
      }
      switch answer {
      case "committed" where isSameTimeline: return true
      case "aborted": return false
      case "in progress":
        // A new primary goes on with nothing of the former one's: this is another's transaction.
        guard isSameTimeline else { return false }
        Thread.sleep(forTimeInterval: 0.05)
      default:
        throw ManagedObjectError.store(
          StoreFailure(
            .io, path: name,
            message: "the connection was lost during a commit, and "
              + (isSameTimeline
                ? "the server doesn't know any more what became of it: "
                : "another server has taken over since, which can't tell what became of it: ")
              + loss.message))
      }
    }
    throw ManagedObjectError.store(
      StoreFailure(
        .io, path: name,
        message:
          "the connection was lost during a commit, and the transaction neither ends nor goes away: \(loss.message)"
      ))
  }

  /// Runs work on a connection until it isn't lost.
  private func repeating<T>(_ body: (PostgresConnection) throws -> T) throws -> T { try pool.repeating(body) }

  /// The same for work that takes its connection itself.
  private func repeating(_ body: (PostgresConnection?) throws -> PostgresConnection) throws -> PostgresConnection {
    let begin = Date()
    var pause = 0.02
    while true {
      do {
        return try body(nil)
      } catch let error as PostgresError where error.mayPass && -begin.timeIntervalSinceNow < timeout {
        pool.access.outage?.note(error, since: begin)
        Thread.sleep(forTimeInterval: pause)
        pause = min(pause * 2, 1)
      }
    }
  }
}
