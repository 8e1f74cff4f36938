import CPostgreSQL
import Glibc
import Synchronization

/// A connection to a PostgreSQL server. It waits in libpq only while it is opened, or while the server doesn't take what is sent.
package final class PostgresConnection: @unchecked Sendable {
  // Sendable: used by one thread at a time, the one that opened it or took it from its pool. Only `cancellation` is for others.

  /// How long the server may take to let a connection in, in seconds, unless the connection string says more.
  private static let timeout = "10"
  /// Between two looks whether the work is still wanted, in milliseconds.
  private static let interval: Int32 = 100
  /// Statements that are kept prepared.
  private static let preparedLimit = 200

  private let connection: OpaquePointer
  /// Throws when the work isn't wanted any more. Called while the connection waits.
  private let check: () throws -> Void
  /// The names of prepared statements.
  private var prepared: [Statement: String] = [:]
  private var preparedCount = 0
  /// Ends the statement that runs. Safe from any thread.
  package let cancellation: PostgresCancellation
  /// Receives each statement when it has ended, if any is set.
  var trace: (@Sendable (PostgresTrace) -> Void)?
  /// What each transaction begins with where a pooler is between; nil on a session of the server's own.
  var prologue: PostgresPrologue?

  private struct Statement: Hashable {
    let text: String
    let types: [PostgresOID]
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
    var parameters = [("connect_timeout", Self.timeout), ("fallback_application_name", "lade")]
    parameters += settings
    parameters += [("dbname", string), ("client_encoding", "UTF8")]
    if let password { parameters.append(("password", password)) }
    let opened = withCStrings(parameters.map(\.0)) { keywords in
      withCStrings(parameters.map(\.1)) { values in PQconnectdbParams(keywords, values, 1) }
    }
    guard let opened else { throw PostgresError(message: "there is no memory") }
    connection = opened
    self.check = check
    cancellation = PostgresCancellation(PQgetCancel(opened))
    // Notices aren't for anybody, and libpq would write them to standard error.
    _ = PQsetNoticeReceiver(opened, { _, _ in }, nil)
    guard PQstatus(opened) == CONNECTION_OK else {
      throw PostgresError(isLoss: true, message: Self.line(PQerrorMessage(opened)))
    }
  }

  deinit { PQfinish(connection) }

  /// Whether it can be used for another transaction.
  package var isIdle: Bool { PQstatus(connection) == CONNECTION_OK && PQtransactionStatus(connection) == PQTRANS_IDLE }

  /// Whether the server was there when it was last looked at.
  package var isOpen: Bool { PQstatus(connection) == CONNECTION_OK }

  /// Whether a transaction is open, even a failed one.
  package var isInTransaction: Bool {
    switch PQtransactionStatus(connection) {
    case PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_ACTIVE: true
    default: false
    }
  }

  /// The number of the server's process for it.
  package var process: Int32 { PQbackendPID(connection) }

  package var serverVersion: Int32 { PQserverVersion(connection) }

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
      try send { PQsendQuery(connection, all) }
      try drain { result in
        guard isFirst, PQresultStatus(result) == PGRES_TUPLES_OK else { return }
        (isFirst, value) = (false, Self.text(result))
      }
    }
    try prologue.check?(value)
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
      if isOpen, isInTransaction { _ = Result { try run("ROLLBACK") } }
      throw error
    }
  }

  // MARK: Statements

  /// Runs statements that have no rows of interest, and no parameters.
  package func run(_ statements: String) throws {
    try traced(statements) { count in
      try send { PQsendQuery(connection, statements) }
      try drain { count = Self.rows(of: $0) }
    }
  }

  /// Commits.
  /// - Parameter next: a statement that is sent with the COMMIT, so that it runs even if this program ends before the answer.
  ///   Its failure doesn't matter.
  package func commit(andThen next: String? = nil) throws {
    let statements = next.map { "COMMIT; \($0)" } ?? "COMMIT"
    try traced(statements) { _ in
      try send { PQsendQuery(connection, statements) }
      var isCommitted = false
      do {
        try drain { _ in isCommitted = true }
      } catch {
        guard isCommitted else { throw error }
      }
    }
  }

  /// Runs statements without parameters. Returns the first column of the last one's first row.
  package func text(_ statements: String) throws -> String? {
    var found: String?
    try traced(statements) { count in
      try send { PQsendQuery(connection, statements) }
      try drain { result in
        count = Self.rows(of: result)
        found = Self.text(result) ?? found
      }
    }
    return found
  }

  /// The first column of the first row.
  private static func text(_ result: OpaquePointer) -> String? {
    guard PQntuples(result) > 0, PQnfields(result) > 0, PQgetisnull(result, 0, 0) == 0 else { return nil }
    return PQgetvalue(result, 0, 0).map { String(cString: $0) }
  }

  /// Runs one statement. It stays prepared for the next time, unless a pooler is between. Rows are in binary form.
  @discardableResult
  package func query(_ statement: String, _ parameters: [PostgresValue] = []) throws -> PostgresRows {
    try traced(statement, parameters) { count in
      try start(statement, parameters)
      return try collect(&count)
    }
  }

  /// Runs one statement that isn't prepared, and has no parameters. Rows are in binary form.
  @discardableResult
  package func rows(_ statement: String) throws -> PostgresRows {
    try traced(statement) { count in
      try send { PQsendQueryParams(connection, statement, 0, nil, nil, nil, nil, 1) }
      return try collect(&count)
    }
  }

  private func collect(_ count: inout Int) throws -> PostgresRows {
    var rows: PostgresRows?
    var failure: (any Error)?
    while let result = try nextResult() {
      do {
        try check(result)
        count = Self.rows(of: result)
        rows = PostgresRows(result)
      } catch {
        PQclear(result)
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    guard let rows else { throw PostgresError(message: "the server's answer makes no sense") }
    return rows
  }

  /// Runs one statement, and calls `take` with its rows as they come; memory is bounded by one. `take` doesn't use the connection.
  package func each(_ statement: String, _ parameters: [PostgresValue], _ take: (PostgresRows) throws -> Void) throws {
    try traced(statement, parameters) { count in
      try start(statement, parameters)
      PQsetSingleRowMode(connection)
      var failure: (any Error)?
      while let result = try nextResult() {
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
            try check(result)
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

  /// The rows that a statement has returned or changed.
  private static func rows(of result: OpaquePointer) -> Int {
    PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? Int(PQntuples(result))
  }

  /// Sends a statement with its parameters.
  private func start(_ statement: String, _ parameters: [PostgresValue]) throws {
    let key = Statement(text: statement, types: parameters.map(\.type))
    // The session that the next transaction gets doesn't know it.
    let name = isPooled ? nil : try prepared[key] ?? prepare(key)
    var bytes = PostgresBytes()
    var places: [(start: Int, count: Int)] = []
    for parameter in parameters {
      let start = bytes.count
      bytes.append(parameter)
      places.append((start, bytes.count - start))
    }
    try send {
      bytes.bytes.withUnsafeBytes { buffer in
        // An empty value needs an address, too.
        var empty: CChar = 0
        return withUnsafePointer(to: &empty) { empty in
          let values = zip(parameters, places).map { parameter, place -> UnsafePointer<CChar>? in
            if parameter.isNull { return nil }
            guard let start = buffer.baseAddress, place.count > 0 else { return empty }
            return (start + place.start).assumingMemoryBound(to: CChar.self)
          }
          let (count, lengths) = (Int32(parameters.count), places.map { Int32(truncatingIfNeeded: $0.count) })
          let formats = Array(repeating: Int32(1), count: parameters.count)
          guard let name else {
            return PQsendQueryParams(
              connection, statement, count, key.types.map { Oid($0.rawValue) }, values, lengths, formats, 1)
          }
          return PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1)
        }
      }
    }
  }

  private func prepare(_ statement: Statement) throws -> String {
    if prepared.count >= Self.preparedLimit { try forgetStatements() }
    preparedCount += 1
    let name = "lade_\(preparedCount)"
    try send {
      PQsendPrepare(
        connection, name, statement.text, Int32(statement.types.count), statement.types.map { Oid($0.rawValue) })
    }
    try drain()
    prepared[statement] = name
    return name
  }

  /// Lets the server forget prepared statements.
  private func forgetStatements() throws {
    prepared.removeAll()
    try run("DEALLOCATE ALL")
  }

  // MARK: Rows as text

  /// The names and types of what a statement would select, which must be one.
  package func describe(_ statement: String) throws -> (columns: [(name: String, type: UInt32)], parameters: Int) {
    try send { PQsendPrepare(connection, "", statement, 0, nil) }
    try drain()
    try send { PQsendDescribePrepared(connection, "") }
    var columns: [(name: String, type: UInt32)] = []
    var parameters = 0
    try drain { result in
      parameters = Int(PQnparams(result))
      columns = (0..<PQnfields(result)).map { index in
        (PQfname(result, index).map { String(cString: $0) } ?? "", PQftype(result, index))
      }
    }
    return (columns, parameters)
  }

  /// Begins a query whose rows come one by one, as text.
  package func beginText(_ query: String, _ parameter: String?) throws {
    try send {
      withCStrings([parameter].compactMap { $0 }) { values in
        PQsendQueryParams(connection, query, parameter == nil ? 0 : 1, nil, values, nil, nil, 0)
      }
    }
    PQsetSingleRowMode(connection)
  }

  /// The next row of that; nil at the end.
  package func nextRow() throws -> PostgresRow? {
    while let result = try nextResult() {
      if PQresultStatus(result) == PGRES_SINGLE_TUPLE { return PostgresRow(result) }
      defer { PQclear(result) }
      try check(result)
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
    try traced(statement) { count in
      count = try copied(statement, fill)
      return count
    }
  }

  private func copied(
    _ statement: String, _ fill: (_ send: @escaping ([UInt8]) throws -> Void) throws -> Void
  ) throws -> Int {
    try send { PQsendQuery(connection, statement) }
    guard let begin = try nextResult() else { throw PostgresError(message: "the server doesn't begin the copy") }
    guard PQresultStatus(begin) == PGRES_COPY_IN else {
      defer { PQclear(begin) }
      var failure: (any Error)?
      do { try check(begin) } catch { failure = error }
      try drain()
      throw failure ?? PostgresError(message: "the statement copies nothing")
    }
    PQclear(begin)
    var failure: (any Error)?
    do {
      try fill { bytes in
        try bytes.withUnsafeBytes { buffer in
          guard let start = buffer.baseAddress else { return }
          let code = PQputCopyData(
            self.connection, start.assumingMemoryBound(to: CChar.self), Int32(truncatingIfNeeded: buffer.count))
          guard code == 1 else { throw self.failure }
        }
        try self.check()
      }
    } catch { failure = error }
    let code = failure == nil ? PQputCopyEnd(connection, nil) : PQputCopyEnd(connection, "not wanted")
    var changed = 0
    var answer: (any Error)?
    if code == 1 {
      do {
        try drain { result in changed = PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0 }
      } catch { answer = error }
    } else {
      answer = self.failure
    }
    if let failure, !(failure is PostgresError) { throw failure }
    if let error = answer ?? failure { throw error }
    return changed
  }

  // MARK: Notifications

  /// The socket, to wait for what the server sends by itself.
  package var descriptor: Int32 { PQsocket(connection) }

  /// Reads what has come. Returns the payloads of notifications by channel.
  package func notifications() throws -> [(channel: String, payload: String)] {
    guard PQconsumeInput(connection) == 1 else { throw failure }
    var found: [(channel: String, payload: String)] = []
    while let notice = PQnotifies(connection) {
      found.append((String(cString: notice.pointee.relname), String(cString: notice.pointee.extra)))
      PQfreemem(notice)
    }
    return found
  }

  // MARK: Answers

  private func send(_ body: () -> Int32) throws {
    guard body() == 1 else { throw failure }
  }

  private func drain(_ body: (OpaquePointer) -> Void = { _ in }) throws {
    var failure: (any Error)?
    while let result = try nextResult() {
      defer { PQclear(result) }
      do {
        try check(result)
        body(result)
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  /// Waits for the server, as long as the work is wanted.
  private func nextResult() throws -> OpaquePointer? {
    while PQisBusy(connection) != 0 {
      do {
        try check()
      } catch {
        cancellation.cancel()
        throw error
      }
      var descriptor = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
      _ = poll(&descriptor, 1, Self.interval)
      guard PQconsumeInput(connection) == 1 else { throw failure }
    }
    return PQgetResult(connection)
  }

  private func check(_ result: OpaquePointer) throws {
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return
    default: break
    }
    func field(_ code: String) -> String? {
      PQresultErrorField(result, Int32(code.utf8.first ?? 0)).map { String(cString: $0) }
    }
    throw PostgresError(
      isLoss: PQstatus(connection) != CONNECTION_OK, state: field("C") ?? "",
      message: PQresultErrorMessage(result).map { Self.line($0) } ?? "the server's answer makes no sense",
      detail: field("D"))
  }

  private var failure: PostgresError {
    PostgresError(isLoss: PQstatus(connection) != CONNECTION_OK, message: Self.line(PQerrorMessage(connection)))
  }

  /// A message in one line.
  private static func line(_ text: UnsafePointer<CChar>?) -> String {
    guard let text else { return "" }
    return String(cString: text).split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }.joined(
      separator: "; ")
  }
}

/// A statement that has ended.
package struct PostgresTrace: Sendable {
  package let statement: String
  package let parameters: [PostgresValue]
  /// The rows that it has returned or changed.
  package let rows: Int
  package let time: Duration
}

/// Ends the statement that a connection runs, if any.
package final class PostgresCancellation: @unchecked Sendable {
  // Sendable: libpq's object never changes, and PQcancel may be called on any thread.
  private let request: OpaquePointer?

  fileprivate init(_ request: OpaquePointer?) { self.request = request }

  deinit { PQfreeCancel(request) }

  package func cancel() {
    guard let request else { return }
    var reason = [CChar](repeating: 0, count: 256)
    PQcancel(request, &reason, Int32(reason.count))
  }
}

/// The rows of a binary COPY.
package struct PostgresCopy {
  private static let start: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  /// Rows are sent in parts of about this size.
  private static let part = 1 << 16

  private let send: ([UInt8]) throws -> Void
  private var bytes = PostgresBytes()

  init(_ send: @escaping ([UInt8]) throws -> Void) {
    self.send = send
    bytes.append(contentsOf: Self.start)
  }

  /// Adds a row, whose fields `fill` appends.
  package mutating func row(fields: Int, _ fill: (inout PostgresBytes) throws -> Void) throws {
    bytes.append(Int16(truncatingIfNeeded: fields))
    try fill(&bytes)
    if bytes.count >= Self.part { try flush() }
  }

  fileprivate mutating func finish() throws {
    bytes.append(Int16(-1))
    try flush()
  }

  private mutating func flush() throws {
    try send(bytes.bytes)
    bytes.removeAll()
  }
}

/// Lends texts as C has them, with a null behind the last.
private func withCStrings<R>(_ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> R) -> R {
  let copies = texts.map { strdup($0) }
  defer { for copy in copies { free(copy) } }
  let pointers = copies.map { $0.map { UnsafePointer($0) } } + [nil]
  return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
}
