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
  /// What each session of the server is set to.
  private let parameters: [PostgresParameter]
  /// After how many seconds the server ends a transaction that waits for its program; nil for what the server has.
  private var idleLimit: TimeInterval?
  /// Throws when the work of the connections isn't wanted any more. Called while they wait.
  package var check: @Sendable () throws -> Void = {}
  /// Receives each statement when it has ended, if any is set.
  package var trace: (@Sendable (PostgresTrace) -> Void)?
  /// What lets connections use what they have been opened for; nil where nothing has to.
  package var entry: PostgresEntry?
  /// Reports that the server can't be reached while callers wait for it; nil for no reports.
  package var outage: PostgresOutage?

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
    var parameters = [
      // The first is set by itself, before anything is locked.
      PostgresParameter("lock_timeout", String(Int(lockTimeout * 1000))), PostgresParameter("TimeZone", "UTC"),
      PostgresParameter("statement_timeout", "0"), PostgresParameter("client_min_messages", "warning"),
      PostgresParameter("standard_conforming_strings", "on"),
    ]
    if !isSynchronous { parameters.append(PostgresParameter("synchronous_commit", "off")) }
    if let schema { parameters.append(PostgresParameter("search_path", PostgresName.quoted(schema))) }
    self.parameters = parameters
  }

  /// The same for connections that write. A program that is stopped amid a transaction, or whose machine is gone, would keep its
  /// locks: the server ends a transaction that has waited for its program for that many seconds, unless it has a limit already.
  package func endingIdleTransactions(after seconds: TimeInterval) -> PostgresAccess {
    var access = self
    access.idleLimit = seconds
    return access
  }

  /// The same past the poolers that it may go through.
  /// - Parameter string: another way to the same database; nil if there is none.
  package func direct(_ string: String?) -> PostgresAccess {
    guard let string else { return self }
    return PostgresAccess(string, of: self)
  }

  private init(_ string: String, of other: PostgresAccess) {
    self.string = string
    (password, settings, parameters) = (other.password, other.settings, other.parameters)
    (idleLimit, check, trace, entry) = (other.idleLimit, other.check, other.trace, other.entry)
    outage = other.outage
  }

  /// Opens a connection.
  /// - Throws: ``PostgresError``.
  package func connect() throws -> PostgresConnection {
    let connection = try PostgresConnection(string, password: password, settings: settings, check: check)
    // A pooler gives its clients numbers of its own. What is set through one lasts until this statement ends.
    let isPooled = "pg_backend_pid() <> \(connection.process)"
    if try connection.text("SELECT \(isPooled), \(assignments(isLocal: isPooled))") == "t" {
      connection.prologue = PostgresPrologue(
        statements: [
          parameters.first.map { "SET LOCAL \($0.name) = \(PostgresName.literal($0.value))" }, entry?.transactionLock,
          "SELECT \(entry?.transaction ?? "NULL"), \(assignments(isLocal: "true"))",
        ].compactMap { $0 }.joined(separator: "; "), check: entry?.check)
    } else if let entry {
      try entry.check(connection.text(entry.session))
    }
    connection.trace = trace
    outage?.end()
    return connection
  }

  private func assignments(isLocal: String) -> String {
    var values = parameters.map { ($0.name, PostgresName.literal($0.value)) }
    if let idleLimit {
      let name = "idle_in_transaction_session_timeout"
      values.append((name, "coalesce(nullif(current_setting('\(name)'), '0'), '\(Int(idleLimit * 1000))')"))
    }
    return values.map { "set_config('\($0)', \($1), \(isLocal))" }.joined(separator: ", ")
  }
}

/// A parameter of a session of the server.
private struct PostgresParameter: Sendable {
  let name: String
  let value: String

  init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// Lets connections use something that is closed at times: each once, or where a pooler is between, each transaction.
package struct PostgresEntry: Sendable {
  /// Statements that a session is let in by. The last one's value is checked.
  let session: String
  /// What a transaction locks before its snapshot is taken.
  let transactionLock: String
  /// Expressions that a transaction is let in by. The first one's value is checked.
  let transaction: String
  /// Throws where the value says that the connection isn't let in.
  let check: @Sendable (String?) throws -> Void

  package init(
    session: String, transactionLock: String, transaction: String, check: @escaping @Sendable (String?) throws -> Void
  ) {
    self.session = session
    self.transactionLock = transactionLock
    self.transaction = transaction
    self.check = check
  }
}

/// What each transaction begins with where a pooler is between, which may give each another session of the server.
struct PostgresPrologue {
  /// Statements. The first row's first value is checked.
  let statements: String
  let check: (@Sendable (String?) throws -> Void)?
}

/// How PostgreSQL writes names.
package enum PostgresName {
  package static func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }

  /// A text, however the server reads backslashes.
  package static func literal(_ text: String) -> String {
    "E'" + text.replacing("\\", with: "\\\\").replacing("'", with: "''") + "'"
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
    let begin = Date()
    var pause = 0.02
    while true {
      do {
        return try once(body)
      } catch let error as PostgresError where error.mayPass && -begin.timeIntervalSinceNow < timeout && !isStopped {
        if error.isLoss { forgetIdle() }
        access.outage?.note(error, since: begin)
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
    if connection.isOpen {
      do { try connection.rollBack() } catch { return release(nil) }
    }
    release(connection.isIdle && !connection.isClosed ? connection : nil)
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
