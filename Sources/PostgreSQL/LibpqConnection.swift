import CPostgreSQL
import Glibc

/// A connection of libpq: sends what it is given, and waits for answers as long as the work is wanted. It waits in libpq only
/// while it is opened, or while the server doesn't take what is sent.
final class LibpqConnection {
  /// How long the server may take to let a connection in, in seconds, unless the connection string says more.
  private static let timeout = "10"
  /// Between two looks whether the work is still wanted, in milliseconds.
  private static let interval: Int32 = 100

  private let connection: OpaquePointer
  /// Throws when the work isn't wanted any more. Called while the connection waits.
  private let check: () throws -> Void
  /// Ends the statement that runs. Safe from any thread.
  let cancellation: PostgresCancellation

  /// - Parameters:
  ///   - string: as libpq takes it: a URI, or `service=…`, or other keywords and values.
  ///   - password: nil where the server needs none, or the string names a file with it.
  ///   - settings: keywords and values that the string may override.
  ///   - check: throws when the work isn't wanted any more. Called every tenth of a second.
  /// - Throws: ``PostgresError``.
  init(_ string: String, password: String?, settings: [(String, String)], check: @escaping () throws -> Void) throws {
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

  /// Whether the server was there when it was last looked at.
  var isOpen: Bool { PQstatus(connection) == CONNECTION_OK }

  /// Whether an idle connection has been closed, as far as that has been heard. Doesn't wait.
  var isClosed: Bool {
    var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    // A server sends something unasked only before it ends the session, or when its configuration was reloaded.
    return !isOpen || poll(&descriptor, 1, 0) != 0
  }

  /// How the transaction stands.
  var transaction: PGTransactionStatusType { PQtransactionStatus(connection) }

  var isInPipeline: Bool { PQpipelineStatus(connection) != PQ_PIPELINE_OFF }

  /// The number of the server's process for it.
  var process: Int32 { PQbackendPID(connection) }

  var serverVersion: Int32 { PQserverVersion(connection) }

  /// The socket, to wait for what the server sends by itself.
  var descriptor: Int32 { PQsocket(connection) }

  /// Reads what has come. Returns the payloads of notifications by channel.
  func notifications() throws -> [(channel: String, payload: String)] {
    guard PQconsumeInput(connection) == 1 else { throw failure }
    var found: [(channel: String, payload: String)] = []
    while let notice = PQnotifies(connection) {
      found.append((String(cString: notice.pointee.relname), String(cString: notice.pointee.extra)))
      PQfreemem(notice)
    }
    return found
  }

  // MARK: Sending

  /// Has one of libpq's functions send something.
  func send(_ body: (OpaquePointer) -> Int32) throws {
    guard body(connection) == 1 else { throw failure }
  }

  /// Sends statements without parameters.
  func send(_ statements: String) throws {
    try send { PQsendQuery($0, statements) }
  }

  /// Has rows of what was just sent come one by one.
  func readRowsOneByOne() { PQsetSingleRowMode(connection) }

  /// Sends statements together from here on, without waiting for answers, up to ``endPipeline()``.
  func beginPipeline() throws {
    guard PQenterPipelineMode(connection) == 1 else { throw failure }
  }

  /// Reads up to the end of what was sent together.
  func endPipeline() throws {
    while isInPipeline {
      if let result = try nextResult() {
        let isEnd = PQresultStatus(result) == PGRES_PIPELINE_SYNC
        PQclear(result)
        guard isEnd else { continue }
        guard PQexitPipelineMode(connection) == 1 else { throw failure }
      } else if transaction != PQTRANS_ACTIVE {
        throw isOpen ? Self.senseless : failure
      }
    }
  }

  // MARK: Answers

  /// Waits for the server's next answer, as long as the work is wanted. The caller clears it.
  /// - Returns: nil when everything was answered.
  func nextResult() throws -> OpaquePointer? {
    while PQisBusy(connection) != 0 {
      do {
        try check()
      } catch {
        cancellation.cancel()
        throw error
      }
      var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = poll(&descriptor, 1, Self.interval)
      guard PQconsumeInput(connection) == 1 else { throw failure }
    }
    return PQgetResult(connection)
  }

  /// Throws what an answer reports.
  func check(_ result: OpaquePointer) throws {
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return
    default: break
    }
    func field(_ code: String) -> String? {
      PQresultErrorField(result, Int32(code.utf8.first ?? 0)).map { String(cString: $0) }
    }
    throw PostgresError(
      isLoss: !isOpen, state: field("C") ?? "",
      message: PQresultErrorMessage(result).map { Self.line($0) } ?? Self.senseless.message,
      detail: field("D"))
  }

  /// Waits for all answers, and throws the first failure.
  func drain(_ body: (OpaquePointer) -> Void = { _ in }) throws {
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

  /// Waits for the rows of a statement.
  /// - Parameter count: how many it has returned or changed.
  func collect(_ count: inout Int) throws -> PostgresRows {
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
    guard let rows else { throw Self.senseless }
    return rows
  }

  /// The rows that a statement has returned or changed.
  static func rows(of result: OpaquePointer) -> Int {
    PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? Int(PQntuples(result))
  }

  /// The first column of the first row.
  static func text(_ result: OpaquePointer) -> String? {
    guard PQntuples(result) > 0, PQnfields(result) > 0, PQgetisnull(result, 0, 0) == 0 else { return nil }
    return PQgetvalue(result, 0, 0).map { String(cString: $0) }
  }

  static var senseless: PostgresError { PostgresError(message: "the server's answer makes no sense") }

  private var failure: PostgresError {
    PostgresError(isLoss: !isOpen, message: Self.line(PQerrorMessage(connection)))
  }

  /// A message in one line.
  private static func line(_ text: UnsafePointer<CChar>?) -> String {
    guard let text else { return "" }
    return String(cString: text).split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }.joined(
      separator: "; ")
  }

  // MARK: COPY

  /// Runs a `COPY … FROM STDIN`. Returns the number of rows.
  /// - Parameter fill: sends the rows, in parts of any size. When it throws, nothing is copied.
  func copy(_ statement: String, _ fill: (_ send: @escaping ([UInt8]) throws -> Void) throws -> Void) throws -> Int {
    try send(statement)
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
          let (text, count) = (start.assumingMemoryBound(to: CChar.self), Int32(truncatingIfNeeded: buffer.count))
          try self.send { PQputCopyData($0, text, count) }
        }
        try self.check()
      }
    } catch { failure = error }
    var changed = 0
    var answer: (any Error)?
    do {
      try send { PQputCopyEnd($0, failure == nil ? nil : "not wanted") }
      try drain { result in changed = PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0 }
    } catch { answer = error }
    if let failure, !(failure is PostgresError) { throw failure }
    if let error = answer ?? failure { throw error }
    return changed
  }
}

/// Lends texts as C has them, with a null behind the last.
func withCStrings<R>(_ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> R) -> R {
  let copies = texts.map { strdup($0) }
  defer { for copy in copies { free(copy) } }
  let pointers = copies.map { $0.map { UnsafePointer($0) } } + [nil]
  return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
}
