import CPostgreSQL
import Glibc
import Importing

/// A connection to a PostgreSQL server. Belongs to one thread, and never waits in libpq but while it is being opened.
final class PostgresConnection {
  /// How long the server may take to answer, in seconds, unless the connection string says more.
  private static let timeout = "10"
  /// Between two looks whether the work is still wanted, in milliseconds.
  private static let interval: Int32 = 100

  private let connection: OpaquePointer
  private let watch: ExtractionWatch

  /// - Parameters:
  ///   - string: as libpq takes it: a URI, or `service=…`, or other keywords and values.
  ///   - password: nil where the server needs none, or the string names a file with it.
  /// - Throws: ``ExtractionError/noServer(reason:)``.
  init(_ string: String, password: String?, _ watch: ExtractionWatch) throws {
    var parameters = [
      ("connect_timeout", Self.timeout), ("fallback_application_name", "lade"), ("dbname", string),
      ("client_encoding", "UTF8"),
    ]
    if let password { parameters.append(("password", password)) }
    let opened = withCStrings(parameters.map(\.0)) { keywords in
      withCStrings(parameters.map(\.1)) { values in PQconnectdbParams(keywords, values, 1) }
    }
    guard let opened else { throw ExtractionError.noServer(reason: "there is no memory") }
    connection = opened
    self.watch = watch
    guard PQstatus(opened) == CONNECTION_OK else { throw ExtractionError.noServer(reason: message) }
  }

  deinit { PQfinish(connection) }

  /// Runs statements that have no rows of interest.
  func run(_ statements: String) throws {
    guard PQsendQuery(connection, statements) == 1 else { throw ExtractionError.failed(reason: message) }
    try drain()
  }

  /// The names and types of what a statement would select, which must be one.
  func describe(_ statement: String) throws -> [(name: String, type: Oid)] {
    guard PQsendPrepare(connection, "", statement, 0, nil) == 1 else {
      throw ExtractionError.failed(reason: message)
    }
    try drain()
    guard PQsendDescribePrepared(connection, "") == 1 else { throw ExtractionError.failed(reason: message) }
    var columns: [(name: String, type: Oid)] = []
    var parameters: Int32 = 0
    try drain { result in
      parameters = PQnparams(result)
      columns = (0..<PQnfields(result)).map { index in
        (PQfname(result, index).map { String(cString: $0) } ?? "", PQftype(result, index))
      }
    }
    guard parameters == 0 else { throw ExtractionError.badSelection(reason: "the query has parameters") }
    return columns
  }

  /// Begins a query whose rows come one by one.
  func begin(_ query: String, _ parameter: String?) throws {
    let sent = withCStrings([parameter].compactMap { $0 }) { values in
      PQsendQueryParams(connection, query, parameter == nil ? 0 : 1, nil, values, nil, nil, 0)
    }
    guard sent == 1, PQsetSingleRowMode(connection) == 1 else { throw ExtractionError.failed(reason: message) }
  }

  /// The next row of that; nil at the end.
  func nextRow() throws -> PostgresRow? {
    while let result = try nextResult() {
      if PQresultStatus(result) == PGRES_SINGLE_TUPLE { return PostgresRow(result) }
      defer { PQclear(result) }
      try check(result)
    }
    return nil
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
        try watch.check()
      } catch {
        cancel()
        throw error
      }
      var descriptor = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
      _ = poll(&descriptor, 1, Self.interval)
      guard PQconsumeInput(connection) == 1 else { throw ExtractionError.failed(reason: message) }
    }
    return PQgetResult(connection)
  }

  /// Has the server end the query.
  private func cancel() {
    guard let request = PQgetCancel(connection) else { return }
    var reason = [CChar](repeating: 0, count: 256)
    PQcancel(request, &reason, Int32(reason.count))
    PQfreeCancel(request)
  }

  private func check(_ result: OpaquePointer) throws {
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK: return
    default: break
    }
    let reason = PQresultErrorMessage(result).map { Self.line($0) } ?? "the server's answer makes no sense"
    let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } ?? ""
    // A syntax error or an access rule, something that isn't there, a write.
    if state.hasPrefix("42") || state.hasPrefix("3F") || state == "25006" {
      throw ExtractionError.badSelection(reason: reason)
    }
    throw ExtractionError.failed(reason: reason)
  }

  private var message: String { PQerrorMessage(connection).map { Self.line($0) } ?? "" }

  /// A message in one line.
  private static func line(_ text: UnsafePointer<CChar>) -> String {
    String(cString: text).split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }.joined(
      separator: "; ")
  }
}

/// A row that was received.
final class PostgresRow {
  private let result: OpaquePointer

  fileprivate init(_ result: OpaquePointer) { self.result = result }

  deinit { PQclear(result) }

  /// Lends a value's text, which ends with a zero; nil for null.
  func withText<R>(_ column: Int, _ body: (UnsafeBufferPointer<CChar>?) throws -> R) rethrows -> R {
    let column = Int32(column)
    guard PQgetisnull(result, 0, column) == 0, let start = PQgetvalue(result, 0, column) else { return try body(nil) }
    return try body(UnsafeBufferPointer(start: start, count: Int(PQgetlength(result, 0, column))))
  }

  /// A value's text; nil for null.
  func text(_ column: Int) -> String? {
    withText(column) { $0.map { String(decoding: $0.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self) } }
  }
}

/// Lends texts as C has them, with a null behind the last.
private func withCStrings<R>(_ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> R) -> R {
  let copies = texts.map { strdup($0) }
  defer { for copy in copies { free(copy) } }
  let pointers = copies.map { $0.map { UnsafePointer($0) } } + [nil]
  return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
}
