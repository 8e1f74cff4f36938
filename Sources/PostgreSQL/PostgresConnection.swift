import CPostgreSQL
import Glibc
import Synchronization

/// A connection to a PostgreSQL server: its transactions, its statements, which stay prepared, and what is queued to be sent along.
package final class PostgresConnection: @unchecked Sendable {
  // Sendable: used by one thread at a time, the one that opened it or took it from its pool. Only `cancellation` is for others.

  /// Statements that are kept prepared.
  private static let preparedLimit = 200
  /// Statements that wait for the next, at most.
  private static let queueLimit = 16

  private let libpq: LibpqConnection
  /// The names of prepared statements.
  private var prepared: [Statement: String] = [:]
  private var preparedCount = 0
  /// Ends the statement that runs. Safe from any thread.
  package var cancellation: PostgresCancellation { libpq.cancellation }
  /// Receives each statement when it has ended, if any is set.
  var trace: (@Sendable (PostgresTrace) -> Void)?
  /// What each transaction begins with where a pooler is between; nil on a session of the server's own.
  var prologue: PostgresPrologue?

  /// Statements that are sent along with the next, in this order.
  private var queue: [Queued] = []

  private struct Statement: Hashable {
    let text: String
    let types: [PostgresOID]
  }

  private struct Queued {
    let text: String
    var parameters: [PostgresValue] = []
    /// Whether it stays prepared for the next time.
    var isPrepared = true
    var key: Statement { Statement(text: text, types: parameters.map(\.type)) }
  }

  /// - Parameters:
  ///   - string: as libpq takes it: a URI, or `service=…`, or other keywords and values.
  ///   - password: nil where the server needs none, or the string names a file with it.
  ///   - settings: keywords and values that the string may override.
  ///   - check: throws when the work isn't wanted any more. Called every tenth of a second.
  /// - Throws: ``PostgresError``.
  package init(
    _ string: String, password: String?, settings: [(String, String)] = [],
    check: @escaping () throws -> Void = {}
  ) throws {
    libpq = try LibpqConnection(string, password: password, settings: settings, check: check)
  }

  /// Whether it can be used for another transaction.
  package var isIdle: Bool {
    queue.isEmpty && isOpen && libpq.transaction == PQTRANS_IDLE && !libpq.isInPipeline
  }

  /// Whether an idle connection has been closed, as far as that has been heard. Doesn't wait.
  package var isClosed: Bool { libpq.isClosed }

  /// Whether the server was there when it was last looked at.
  package var isOpen: Bool { libpq.isOpen }

  /// Whether a transaction is open, even a failed one. Statements that are queued begin none.
  package var isInTransaction: Bool {
    switch libpq.transaction {
    case PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_ACTIVE: true
    default: false
    }
  }

  /// The number of the server's process for it.
  package var process: Int32 { libpq.process }

  package var serverVersion: Int32 { libpq.serverVersion }

  /// Whether a pooler is between, which may give each transaction another session of the server: nothing lasts longer than one.
  package var isPooled: Bool { prologue != nil }

  // MARK: Transactions

  /// Begins a transaction.
  /// - Parameters:
  ///   - mode: its isolation level and the like.
  ///   - first: a statement that is sent along.
  package func begin(_ mode: String = "", then first: String? = nil) throws {
    let statements = (mode.isEmpty ? "BEGIN" : "BEGIN \(mode)") + (first.map { "; \($0)" } ?? "")
    guard let prologue else { return try run(statements) }
    var value: String?
    try traced(statements) { _ in
      let all = ["BEGIN \(mode)", prologue.statements, first].compactMap { $0 }.joined(separator: "; ")
      var isFirst = true
      try libpq.send(all)
      try libpq.drain { result in
        guard isFirst, PQresultStatus(result) == PGRES_TUPLES_OK else { return }
        (isFirst, value) = (false, LibpqConnection.text(result))
      }
    }
    try prologue.check?(value)
  }

  /// Begins a transaction with the next statement, if no pooler is between: then it begins now.
  package func beginSoon() throws {
    if isPooled { return try begin() }
    try enqueue(Queued(text: Self.beginning, isPrepared: false))
  }

  private static let beginning = "BEGIN"

  /// Whether a transaction that hasn't failed is open, or begins with the next statement. The COMMIT of a failed one would roll it
  /// back without an error.
  package var canCommit: Bool {
    libpq.transaction == PQTRANS_INTRANS || queue.first?.text == Self.beginning
  }

  /// Runs statements that each may be a transaction of its own, and rely on what the session is set to. Where a pooler is between,
  /// they are one transaction, unless one is open.
  package func settled<T>(_ body: () throws -> T) throws -> T {
    guard isPooled, !isInTransaction else { return try body() }
    do {
      try begin()
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      // What went wrong first is worth more.
      if isOpen, isInTransaction { _ = Result { try rollBack() } }
      throw error
    }
  }

  /// Rolls the transaction back, if one has begun.
  package func rollBack() throws {
    queue = []
    if isInTransaction { try run("ROLLBACK") }
  }

  /// Begins a part of the transaction that can be rolled back by itself. It is sent along with the next statement.
  package func begin(part name: String) throws { try enqueue(Queued(text: "SAVEPOINT \(name)", isPrepared: false)) }

  /// Ends a part of the transaction, whose changes then belong to the whole. It is sent along with the next statement.
  package func end(part name: String) throws {
    try enqueue(Queued(text: Self.endOfPart + name, isPrepared: false))
  }

  private static let endOfPart = "RELEASE SAVEPOINT "

  /// Rolls back what has followed the beginning of a part of the transaction. The part goes on.
  package func rollBack(part name: String) throws {
    if let place = queue.lastIndex(where: { $0.text == "SAVEPOINT \(name)" }) {
      // Nothing of it was sent.
      queue.removeSubrange((place + 1)...)
    } else {
      queue = []
      try run("ROLLBACK TO SAVEPOINT \(name)")
    }
  }

  // MARK: Statements

  /// Queues a statement of a transaction whose rows aren't needed. It is sent with the next statement and runs before it. If it
  /// fails, the next one doesn't run, and throws its error.
  package func enqueue(_ statement: String, _ parameters: [PostgresValue] = []) throws {
    try enqueue(Queued(text: statement, parameters: parameters, isPrepared: !parameters.isEmpty))
  }

  private func enqueue(_ statement: Queued) throws {
    queue.append(statement)
    if queue.count >= Self.queueLimit { try runQueue() }
  }

  /// Runs what is queued.
  package func runQueue() throws {
    guard !queue.isEmpty else { return }
    try pipeline([])
  }

  /// Takes what is queued as the beginning of statements without parameters, or runs it.
  private func takeQueue(before statements: String) throws -> String {
    guard queue.allSatisfy(\.parameters.isEmpty) else {
      try runQueue()
      return statements
    }
    defer { queue = [] }
    return (queue.map(\.text) + [statements]).joined(separator: "; ")
  }

  /// Runs statements that have no rows of interest, and no parameters.
  package func run(_ statements: String) throws {
    let statements = try takeQueue(before: statements)
    try traced(statements) { count in
      try libpq.send(statements)
      try libpq.drain { count = LibpqConnection.rows(of: $0) }
    }
  }

  /// Commits.
  /// - Parameter next: a statement that is sent with the COMMIT, so that it runs even if this program ends before the answer.
  ///   Its failure doesn't matter.
  package func commit(andThen next: String? = nil) throws {
    // Parts end with the whole.
    queue.removeAll { $0.text.hasPrefix(Self.endOfPart) }
    try runQueue()
    let statements = next.map { "COMMIT; \($0)" } ?? "COMMIT"
    try traced(statements) { _ in
      try libpq.send(statements)
      var isCommitted = false
      do {
        try libpq.drain { _ in isCommitted = true }
      } catch {
        guard isCommitted else { throw error }
      }
    }
  }

  /// Runs statements without parameters. Returns the first column of the last one's first row.
  package func text(_ statements: String) throws -> String? {
    let statements = try takeQueue(before: statements)
    var found: String?
    try traced(statements) { count in
      try libpq.send(statements)
      try libpq.drain { result in
        count = LibpqConnection.rows(of: result)
        found = LibpqConnection.text(result) ?? found
      }
    }
    return found
  }

  /// Runs one statement. It stays prepared for the next time, unless a pooler is between. Rows are in binary form.
  @discardableResult
  package func query(_ statement: String, _ parameters: [PostgresValue] = []) throws -> PostgresRows {
    let wanted = Queued(text: statement, parameters: parameters)
    guard queue.isEmpty, isPooled || prepared[wanted.key] != nil else {
      guard let rows = try pipeline([wanted]).first else { throw LibpqConnection.senseless }
      return rows
    }
    return try traced(statement, parameters) { count in
      try send(wanted)
      return try libpq.collect(&count)
    }
  }

  /// Runs statements together, as ``query(_:_:)`` each. If one fails, those behind it aren't run.
  /// - Returns: the rows of each.
  package func queries(_ statements: [(text: String, parameters: [PostgresValue])]) throws -> [PostgresRows] {
    if statements.isEmpty { return [] }
    if statements.count == 1 { return [try query(statements[0].text, statements[0].parameters)] }
    return try pipeline(statements.map { Queued(text: $0.text, parameters: $0.parameters) })
  }

  /// Runs one statement that isn't prepared, and has no parameters. Rows are in binary form.
  @discardableResult
  package func rows(_ statement: String) throws -> PostgresRows {
    try runQueue()
    return try traced(statement) { count in
      try libpq.send { connection in PQsendQueryParams(connection, statement, 0, nil, nil, nil, nil, 1) }
      return try libpq.collect(&count)
    }
  }

  /// Runs one statement, and calls `take` with its rows as they come; memory is bounded by one. `take` doesn't use the connection.
  package func each(_ statement: String, _ parameters: [PostgresValue], _ take: (PostgresRows) throws -> Void) throws {
    try runQueue()
    try prepare(Statement(text: statement, types: parameters.map(\.type)))
    try traced(statement, parameters) { count in
      try send(Queued(text: statement, parameters: parameters))
      libpq.readRowsOneByOne()
      var failure: (any Error)?
      while let result = try libpq.nextResult() {
        guard failure == nil else {
          PQclear(result)
          continue
        }
        do {
          if PQresultStatus(result) == PGRES_SINGLE_TUPLE {
            count += 1
            try take(PostgresRows(result))
          } else {
            defer { PQclear(result) }
            try libpq.check(result)
          }
        } catch {
          failure = error
          cancellation.cancel()
        }
      }
      if let failure { throw failure }
    }
  }

  /// Runs a statement, and passes it on with its time and its rows, which `body` counts.
  private func traced<T>(
    _ statement: String, _ parameters: [PostgresValue] = [], _ body: (inout Int) throws -> T
  ) rethrows -> T {
    var count = 0
    guard let trace else { return try body(&count) }
    let start = ContinuousClock.now
    defer {
      trace(
        PostgresTrace(statement: statement, parameters: parameters, rows: count, time: start.duration(to: .now)))
    }
    return try body(&count)
  }

  /// Sends a statement with its parameters.
  private func send(_ statement: Queued) throws {
    let key = statement.key
    // The session that the next transaction gets doesn't know it.
    let name = isPooled || !statement.isPrepared ? nil : prepared[key]
    var bytes = PostgresBytes()
    var places: [(start: Int, count: Int)] = []
    for parameter in statement.parameters {
      let start = bytes.count
      bytes.append(parameter)
      places.append((start, bytes.count - start))
    }
    try libpq.send { connection in
      bytes.bytes.withUnsafeBytes { buffer in
        // An empty value needs an address, too.
        var empty: CChar = 0
        return withUnsafePointer(to: &empty) { empty in
          let values = zip(statement.parameters, places).map { parameter, place -> UnsafePointer<CChar>? in
            if parameter.isNull { return nil }
            guard let start = buffer.baseAddress, place.count > 0 else { return empty }
            return (start + place.start).assumingMemoryBound(to: CChar.self)
          }
          let (count, lengths) = (Int32(places.count), places.map { Int32(truncatingIfNeeded: $0.count) })
          let formats = Array(repeating: Int32(1), count: places.count)
          guard let name else {
            return PQsendQueryParams(
              connection, statement.text, count, key.types.map { Oid($0.rawValue) }, values, lengths, formats, 1)
          }
          return PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1)
        }
      }
    }
  }

  /// Has a statement prepared, unless it is, or a pooler is between.
  private func prepare(_ statement: Statement) throws {
    guard !isPooled, prepared[statement] == nil else { return }
    if prepared.count >= Self.preparedLimit { try forgetStatements() }
    let name = try sendPreparation(of: statement)
    try libpq.drain()
    prepared[statement] = name
  }

  private func sendPreparation(of statement: Statement) throws -> String {
    preparedCount += 1
    let name = "lade_\(preparedCount)"
    try libpq.send { connection in
      PQsendPrepare(
        connection, name, statement.text, Int32(statement.types.count), statement.types.map { Oid($0.rawValue) })
    }
    return name
  }

  /// Lets the server forget prepared statements.
  private func forgetStatements() throws {
    // What is queued is prepared after that.
    let waiting = queue
    queue = []
    defer { queue = waiting }
    try run("DEALLOCATE ALL")
    prepared = [:]
  }

  // MARK: Pipelines

  /// Sends what is queued and `wanted` together.
  /// - Returns: the rows of each of `wanted`.
  /// - Throws: the first failure, after which nothing was run. When the work isn't wanted any more, the connection is of no more
  ///   use.
  @discardableResult
  private func pipeline(_ wanted: [Queued]) throws -> [PostgresRows] {
    if prepared.count + queue.count + wanted.count > Self.preparedLimit { try forgetStatements() }
    let statements = queue + wanted
    queue = []
    try libpq.beginPipeline()
    var names: [String?] = []
    var failure: (any Error)?
    do {
      for statement in statements {
        var name: String?
        if statement.isPrepared, !isPooled, prepared[statement.key] == nil {
          name = try sendPreparation(of: statement.key)
          // The next may be the same.
          prepared[statement.key] = name
        }
        try send(statement)
        names.append(name)
      }
    } catch {
      failure = error
      for statement in statements.dropFirst(names.count) { prepared[statement.key] = nil }
    }
    try libpq.send { PQpipelineSync($0) }
    var rows: [PostgresRows] = []
    for (statement, name) in zip(statements, names) {
      if name != nil {
        do {
          try libpq.drain()
        } catch let error as PostgresError {
          prepared[statement.key] = nil
          failure = failure ?? error
        }
      }
      do {
        try traced(statement.text, statement.parameters) { count in rows.append(try libpq.collect(&count)) }
      } catch let error as PostgresError {
        failure = failure ?? error
      }
    }
    try libpq.endPipeline()
    if let failure { throw failure }
    return Array(rows.suffix(wanted.count))
  }

  // MARK: Rows as text

  /// The names and types of what a statement would select, which must be one.
  package func describe(_ statement: String) throws -> (columns: [(name: String, type: UInt32)], parameters: Int) {
    try runQueue()
    try libpq.send { connection in PQsendPrepare(connection, "", statement, 0, nil) }
    try libpq.drain()
    try libpq.send { connection in PQsendDescribePrepared(connection, "") }
    var columns: [(name: String, type: UInt32)] = []
    var parameters = 0
    try libpq.drain { result in
      parameters = Int(PQnparams(result))
      columns = (0..<PQnfields(result)).map { index in
        (PQfname(result, index).map { String(cString: $0) } ?? "", PQftype(result, index))
      }
    }
    return (columns, parameters)
  }

  /// Begins a query whose rows come one by one, as text.
  package func beginText(_ query: String, _ parameter: String?) throws {
    try runQueue()
    try libpq.send { connection in
      withCStrings([parameter].compactMap { $0 }) { values in
        PQsendQueryParams(connection, query, parameter == nil ? 0 : 1, nil, values, nil, nil, 0)
      }
    }
    libpq.readRowsOneByOne()
  }

  /// The next row of that; nil at the end.
  package func nextRow() throws -> PostgresRow? {
    while let result = try libpq.nextResult() {
      if PQresultStatus(result) == PGRES_SINGLE_TUPLE { return PostgresRow(result) }
      defer { PQclear(result) }
      try libpq.check(result)
    }
    return nil
  }

  // MARK: COPY

  /// Writes rows in binary form. Returns their number.
  /// - Parameters:
  ///   - statement: `COPY … FROM STDIN (FORMAT binary)`.
  ///   - fill: gives the copy its rows. When it throws, nothing is copied, and a transaction is failed.
  @discardableResult
  package func copy(_ statement: String, _ fill: (inout PostgresCopy) throws -> Void) throws -> Int {
    try copyBytes(statement) { send in
      var copy = PostgresCopy(send)
      try fill(&copy)
      try copy.finish()
    }
  }

  /// Writes rows in the form that the statement says. Returns their number.
  /// - Parameters:
  ///   - statement: `COPY … FROM STDIN`.
  ///   - fill: sends the rows, in parts of any size. When it throws, nothing is copied, and a transaction is failed.
  @discardableResult
  package func copyBytes(
    _ statement: String, _ fill: (_ send: @escaping ([UInt8]) throws -> Void) throws -> Void
  ) throws -> Int {
    try runQueue()
    return try traced(statement) { count in
      count = try libpq.copy(statement, fill)
      return count
    }
  }

  // MARK: Notifications

  /// The socket, to wait for what the server sends by itself.
  package var descriptor: Int32 { libpq.descriptor }

  /// Reads what has come. Returns the payloads of notifications by channel.
  package func notifications() throws -> [(channel: String, payload: String)] {
    try libpq.notifications()
  }
}
