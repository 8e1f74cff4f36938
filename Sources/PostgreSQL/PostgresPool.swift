// Every path reconnects: a connection that the server or the network has ended is thrown away with all that stood idle beside it,
// and work that can't have had an effect runs again on a new one, until a time has passed.

package import Foundation

/// How connections are opened.
package struct PostgresAccess: Sendable {
  /// As libpq takes it: a URI, or keywords and values.
  package let string: String
  /// nil where the server needs none, or the string names a file with it.
  package let password: String?
  /// Keywords and values that the string may override.
  package let settings: [(String, String)]
  /// Statements that each connection begins with.
  package private(set) var beginning: String
  /// Throws when the work of the connections isn't wanted any more. Called while they wait.
  package var check: @Sendable () throws -> Void = {}
  /// Receives each statement when it has ended, if any is set.
  package var trace: (@Sendable (PostgresTrace) -> Void)?
  /// What each connection does before it is used; nil for nothing.
  package var entering: (@Sendable (PostgresConnection) throws -> Void)?

  /// - Parameter lockTimeout: how long a statement waits for another transaction's lock, in seconds.
  package init(
    _ string: String, password: String? = nil, schema: String? = nil, lockTimeout: TimeInterval = 30,
    isSynchronous: Bool = true
  ) {
    self.string = string
    self.password = password
    // A server that has gone without a word is noticed, also while it is waited for; a standby takes no writes.
    settings = [
      ("keepalives_idle", "30"), ("keepalives_interval", "5"), ("keepalives_count", "3"), ("tcp_user_timeout", "30000"),
      ("target_session_attrs", "read-write"),
    ]
    var statements = [
      "SET TimeZone = 'UTC'", "SET lock_timeout = \(Int(lockTimeout * 1000))", "SET statement_timeout = 0",
      "SET client_min_messages = warning", "SET standard_conforming_strings = on",
    ]
    if !isSynchronous { statements.append("SET synchronous_commit = off") }
    if let schema { statements.append("SET search_path = \(PostgresName.quoted(schema))") }
    beginning = statements.joined(separator: "; ")
  }

  /// The same for connections that write. A program that is stopped amid a transaction, or whose machine is gone, would keep its
  /// locks: the server ends a transaction that has waited for its program for that many seconds, unless it has a limit already.
  package func endingIdleTransactions(after seconds: TimeInterval) -> PostgresAccess {
    var access = self
    let setting = "'idle_in_transaction_session_timeout'"
    access.beginning +=
      "; SELECT set_config(\(setting), '\(Int(seconds * 1000))', false) WHERE current_setting(\(setting)) = '0'"
    return access
  }

  /// Opens a connection.
  /// - Throws: ``PostgresError``.
  package func connect() throws -> PostgresConnection {
    let connection = try PostgresConnection(string, password: password, settings: settings, check: check)
    try connection.run(beginning)
    try entering?(connection)
    connection.trace = trace
    return connection
  }
}

/// How PostgreSQL writes names.
package enum PostgresName {
  package static func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }
}

/// A bounded number of connections, which are opened when they are needed. Safe from any thread.
package final class PostgresPool: @unchecked Sendable {
  // Sendable: `idle`, `used` and `isClosed` are accessed under `condition`.
  package let access: PostgresAccess
  private let limit: Int
  /// How long to wait for a free connection, and for a server that is gone.
  private let timeout: TimeInterval
  private let condition = NSCondition()
  private var idle: [PostgresConnection] = []
  private var used = 0
  private var isClosed = false

  package init(_ access: PostgresAccess, limit: Int, timeout: TimeInterval) {
    self.access = access
    self.limit = max(1, limit)
    self.timeout = timeout
  }

  /// Runs work that may run again: it has no effect unless it returns. Each time it begins on a connection without a transaction,
  /// and where it leaves one open that is rolled back.
  /// - Throws: what `body` throws, or ``PostgresError``.
  package func repeating<T>(_ body: (PostgresConnection) throws -> T) throws -> T {
    let end = Date(timeIntervalSinceNow: timeout)
    var pause = 0.02
    while true {
      do {
        return try once(body)
      } catch let error as PostgresError where error.mayPass && Date() < end && !isStopped {
        if error.isLoss { forgetIdle() }
        Thread.sleep(forTimeInterval: pause)
        pause = min(pause * 2, 1)
      }
    }
  }

  /// Runs work once.
  package func once<T>(_ body: (PostgresConnection) throws -> T) throws -> T {
    let connection = try take()
    do {
      let result = try body(connection)
      giveBack(connection)
      return result
    } catch {
      giveBack(connection)
      throw error
    }
  }

  /// Takes a connection, for ``giveBack(_:)``.
  package func take() throws -> PostgresConnection {
    let end = Date(timeIntervalSinceNow: timeout)
    condition.lock()
    while used >= limit, !isClosed {
      guard condition.wait(until: end) else {
        condition.unlock()
        throw PostgresError(state: "53300", message: "all \(limit) connections of the pool are in use")
      }
    }
    guard !isClosed else {
      condition.unlock()
      throw PostgresError(message: "the store is closed")
    }
    used += 1
    let known = idle.popLast()
    condition.unlock()
    if let known { return known }
    do {
      return try access.connect()
    } catch {
      release(nil)
      throw error
    }
  }

  /// Gives a connection back. One that isn't fit for another transaction is closed.
  package func giveBack(_ connection: PostgresConnection) {
    if connection.isOpen, connection.isInTransaction {
      do { try connection.run("ROLLBACK") } catch { return release(nil) }
    }
    release(connection.isIdle ? connection : nil)
  }

  private func release(_ connection: PostgresConnection?) {
    condition.lock()
    used -= 1
    if let connection, !isClosed { idle.append(connection) }
    condition.signal()
    condition.unlock()
  }

  private var isStopped: Bool {
    condition.lock()
    defer { condition.unlock() }
    return isClosed
  }

  /// What stands idle is of a server that is gone.
  private func forgetIdle() {
    condition.lock()
    let old = idle
    idle = []
    condition.unlock()
    _ = old
  }

  /// Closes idle connections, and those in use when they are given back. No more can be taken.
  package func close() {
    condition.lock()
    isClosed = true
    let old = idle
    idle = []
    condition.broadcast()
    condition.unlock()
    _ = old
  }
}
