// Databases from untrusted sources are opened here. They can't:
//
// 1. open another file or write to their own: SQLite reads through the descriptor, in a file system of one file;
// 2. run anything: only SELECT is allowed, with functions that compute something from their arguments; no trigger, no
//    extension, no virtual table; views only for a query that names them;
// 3. take memory that grows with the file: lengths, depths and the page cache are bounded, nothing is mapped. Queries sort
//    and store intermediate results in temporary files, whose size is bounded;
// 4. run forever: the work between two rows is counted, and that of all rows (`SQLiteCostLimiter`). No function takes longer
//    than a bounded time for each byte of its arguments;
// 5. grow a query without bounds before it runs: the expansion of views and WITHs is counted first (`SQLExpansion`).

import CSQLite
import Foundation
import ManagedObjects

/// A read-only connection to a SQLite file. Belongs to one thread at a time.
final class SQLiteDatabase {
  /// Tables that store rows themselves.
  private(set) var tables: [String] = []
  /// The statements that create its views, by their folded names.
  private var views: [String: [UInt8]] = [:]
  let connection: OpaquePointer
  private let source: OpaquePointer
  private let limiter: SQLiteCostLimiter

  /// The steps that reading the schema may take: enough for some ten thousand tables.
  private static let schemaSteps = 500_000
  private static let cacheKiB = 4_096

  /// - Parameters:
  ///   - isQueried: whether a query will be run, which may name views.
  ///   - log: a descriptor of its write-ahead log; see ``SQLiteLog``.
  ///   - limits: the cost allowed for a query; nil: the default for a file of this size.
  init(
    descriptor: Int32, log: Int32? = nil, fileSize: Int64, isQueried: Bool, maximumRecordBytes: Int,
    limits: SQLiteCostLimits? = nil,
    meters: SQLiteCostMeters = SQLiteCostMeters()
  ) throws(ReaderError) {
    let limits = limits ?? SQLiteCostLimits(fileSize: fileSize, maximumRecordBytes: maximumRecordBytes)
    limiter = SQLiteCostLimiter(limits: limits, meters: meters)
    var opened: OpaquePointer?
    let result = lade_source_open(descriptor, log ?? -1, isQueried ? 1 : 0, limits.temporaryBytes, &opened)
    guard let opened, result == SQLITE_OK, let connection = lade_source_connection(opened) else {
      lade_source_close(opened)
      throw .database(Self.failure(result, String(cString: sqlite3_errstr(result))))
    }
    source = opened
    self.connection = connection
    // The first statement reads the schema, which stays in memory.
    limiter.limit(steps: Self.schemaSteps)
    limitLengths(maximumRecordBytes)
    try watch()
    for pragma in ["cell_size_check = ON", "mmap_size = 0", "cache_size = -\(Self.cacheKiB)", "query_only = ON"] {
      try run("PRAGMA \(pragma)")
    }
    try findTables()
    authorize()
    limiter.allow(limits)
  }

  deinit { lade_source_close(source) }

  /// SQLite's message for the last failure.
  var failure: SQLiteSourceError {
    if let refusal = limiter.refusal { return refusal }
    if lade_source_is_out_of_space(source) != 0 {
      return .tooMuchToKeep(limit: limiter.temporaryLimit)
    }
    return Self.failure(sqlite3_errcode(connection), String(cString: sqlite3_errmsg(connection)))
  }

  private static func failure(_ code: Int32, _ reason: String) -> SQLiteSourceError {
    switch code & 0xFF {
    case SQLITE_ERROR, SQLITE_TOOBIG, SQLITE_MISMATCH: .cannotCompute(reason: reason, record: 0)
    // The file is only read, so the full disk is that of temporary files.
    case SQLITE_FULL: .noTemporarySpace
    // The file itself is open: SQLite opens and writes temporary ones.
    case SQLITE_NOMEM, SQLITE_IOERR, SQLITE_CANTOPEN: .refused(reason: reason, record: 0)
    default: .failed(reason: reason, record: 0)
    }
  }

  /// Whether the last failure was a value or row longer than allowed.
  var hasFoundTooLong: Bool { sqlite3_errcode(connection) == SQLITE_TOOBIG }

  /// Resets the work counted for one row: a row has arrived.
  func beginRow() { limiter.beginRow() }

  /// SQLite works between these two calls, and the time is counted; at first it is counted.
  func pause() { limiter.end() }
  func resume() { limiter.begin() }

  /// A statement from the person who submitted the file.
  func prepareQuery(_ sql: String) -> Result<SQLiteRows, SQLiteSourceError> {
    guard SQLExpansion(views: views).allows(sql) else {
      let reason =
        "with all views and WITHs put in it has more than 1000 SELECTs, or they nest too deep, or in a circle"
      return .failure(.badQuery(reason: reason))
    }
    return prepare(sql)
  }

  /// A statement; nil and SQLite's message if it is wrong, or if there is more than one.
  func prepare(_ sql: String) -> Result<SQLiteRows, SQLiteSourceError> {
    var statement: OpaquePointer?
    var sql = sql
    let (result, isAll) = sql.withUTF8 { text -> (Int32, Bool) in
      text.withMemoryRebound(to: CChar.self) { text in
        var tail: UnsafePointer<CChar>?
        let result = sqlite3_prepare_v3(
          connection, text.baseAddress, Int32(clamping: text.count), 0, &statement, &tail)
        let rest = tail.flatMap { tail in text.baseAddress.map { $0 + text.count - tail } } ?? 0
        return (result, text.suffix(rest).allSatisfy { JSONToken.isSpace(UInt8(bitPattern: $0)) || $0 == 0x3B })
      }
    }
    guard result == SQLITE_OK else {
      let failure = failure
      switch failure {
      case .failed(let reason, _), .cannotCompute(let reason, _): return .failure(.badQuery(reason: reason))
      default: return .failure(failure)
      }
    }
    guard let statement else { return .failure(.badQuery(reason: "it is empty")) }
    let rows = SQLiteRows(self, statement)
    guard isAll else { return .failure(.badQuery(reason: "it is more than one statement")) }
    guard sqlite3_stmt_readonly(statement) != 0, rows.columns.count > 0 else {
      return .failure(.badQuery(reason: "it isn't a SELECT"))
    }
    guard sqlite3_bind_parameter_count(statement) == 0 else {
      return .failure(.badQuery(reason: "it has parameters"))
    }
    return .success(rows)
  }

  /// A name, quoted for SQL.
  static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

  /// Lets queries read values in files beside the database, which must live as long as this object.
  func allow(_ values: CoreDataFileValues) -> Bool {
    guard values.register(on: connection) else { return false }
    limiter.permitFunction(CoreDataFileValues.function)
    return true
  }

  private func limitLengths(_ maximumRecordBytes: Int) {
    let limits: [(Int32, Int)] = [
      // A row as it is stored, and room for intermediate values.
      (SQLITE_LIMIT_LENGTH, max(1 << 20, maximumRecordBytes)), (SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
      (SQLITE_LIMIT_COLUMN, 2_000), (SQLITE_LIMIT_EXPR_DEPTH, 100), (SQLITE_LIMIT_COMPOUND_SELECT, 50),
      // This many steps may pass unchecked, and a pattern's length is a factor of the time that a step takes.
      (SQLITE_LIMIT_VDBE_OP, 25_000), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100), (SQLITE_LIMIT_FUNCTION_ARG, 100),
      (SQLITE_LIMIT_ATTACHED, 0), (SQLITE_LIMIT_VARIABLE_NUMBER, 10), (SQLITE_LIMIT_TRIGGER_DEPTH, 1),
      (SQLITE_LIMIT_WORKER_THREADS, 0),
    ]
    for (limit, value) in limits { sqlite3_limit(connection, limit, Int32(clamping: value)) }
  }

  /// Starts counting the work.
  private func watch() throws(ReaderError) {
    let context = Unmanaged.passUnretained(limiter).toOpaque()
    sqlite3_progress_handler(
      connection, Int32(SQLiteCostLimiter.stepsPerCheck),
      { context in
        guard let context else { return 1 }
        let limiter = Unmanaged<SQLiteCostLimiter>.fromOpaque(context).takeUnretainedValue()
        return limiter.look(steps: SQLiteCostLimiter.stepsPerCheck) || Interruption.isRequested ? 1 : 0
      }, context)
    let result = lade_source_add_functions(
      source,
      { context in
        guard let context else { return 1 }
        return Unmanaged<SQLiteCostLimiter>.fromOpaque(context).takeUnretainedValue().look(steps: 0) ? 1 : 0
      }, context)
    guard result == SQLITE_OK else { throw .database(failure) }
  }

  private func run(_ sql: String) throws(ReaderError) {
    guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw .database(failure) }
  }

  /// Finds the tables that store rows themselves: the root page of virtual tables is zero.
  private func findTables() throws(ReaderError) {
    let sql =
      "SELECT CAST(name AS TEXT), lower(type) = 'view', CASE lower(type) WHEN 'view' THEN CAST(sql AS TEXT) END "
      + "FROM sqlite_schema WHERE (type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite!_%' ESCAPE '!') "
      + "OR lower(type) = 'view' ORDER BY name"
    switch prepare(sql) {
    case .failure(let error):
      if case .badQuery(let reason) = error { throw .database(.failed(reason: reason, record: 0)) }
      throw .database(error)
    case .success(let rows):
      while try rows.next() {
        let name = rows.text(0)
        limiter.permit(name)
        if rows.integer(1) == 0 { tables.append(name) } else { views[SQLToken.folded(rows.bytes(0))] = rows.bytes(2) }
      }
    }
    for name in ["sqlite_schema", "sqlite_master"] { limiter.permit(name) }
    beginRow()
  }

  private func authorize() {
    sqlite3_set_authorizer(
      connection,
      { context, action, first, second, _, _ in
        guard let context else { return SQLITE_DENY }
        let limiter = Unmanaged<SQLiteCostLimiter>.fromOpaque(context).takeUnretainedValue()
        switch action {
        case SQLITE_SELECT, SQLITE_RECURSIVE: return SQLITE_OK
        case SQLITE_READ:
          let table = first.map { String(cString: $0).lowercased() } ?? ""
          // Without a column, only the table's rows are counted, or the query defined the name itself.
          return table.isEmpty || second.map({ $0.pointee == 0 }) ?? true || limiter.permits(table)
            ? SQLITE_OK : SQLITE_DENY
        case SQLITE_FUNCTION:
          let name = second.map { String(cString: $0).lowercased() } ?? ""
          return SQLiteDatabase.harmless.contains(name) || limiter.permitsFunction(name) ? SQLITE_OK : SQLITE_DENY
        default: return SQLITE_DENY
        }
      }, Unmanaged.passUnretained(limiter).toOpaque())
  }

  /// Functions whose result depends on their arguments alone. json_patch isn't among them, since it compares
  /// each key of one object with all of the other, nor are json_set and json_insert, which recurse by the length of their
  /// path until the stack overflows.
  private static let harmless: Set<String> = Set(
    """
    abs avg ceil ceiling char coalesce concat concat_ws cos count cume_dist date datetime degrees dense_rank exp \
    first_value floor format glob group_concat hex ifnull iif instr json json_array json_array_length json_extract \
    json_group_array json_group_object json_object json_quote json_remove json_replace \
    json_type json_valid julianday lag last_value lead length like likelihood likely ln log log10 log2 lower ltrim max \
    min mod nth_value ntile nullif octet_length percent_rank pi pow power printf quote radians rank replace round \
    row_number rtrim sign sin sqrt strftime string_agg substr substring sum tan time timediff total trim trunc typeof \
    unhex unicode unixepoch unlikely upper -> ->>
    """.split(separator: " ").map(String.init))
}

/// The rows of a statement, one after another.
final class SQLiteRows {
  let columns: [String]
  private let database: SQLiteDatabase
  private let statement: OpaquePointer
  /// Whether there was no memory for a value of the present row, as which it looks empty.
  private(set) var lacksValue = false

  init(_ database: SQLiteDatabase, _ statement: OpaquePointer) {
    self.database = database
    self.statement = statement
    columns = (0..<sqlite3_column_count(statement)).map { index in
      sqlite3_column_name(statement, index).map { String(cString: $0) } ?? ""
    }
  }

  deinit { sqlite3_finalize(statement) }

  /// Moves to the next row; false if there is none.
  func next() throws(ReaderError) -> Bool {
    lacksValue = false
    switch sqlite3_step(statement) {
    case SQLITE_ROW:
      database.beginRow()
      return true
    case SQLITE_DONE: return false
    default: throw .database(database.failure)
    }
  }

  /// The type that a table declares for a column; nil for what isn't a column of one.
  func declaredType(_ column: Int) -> String? {
    sqlite3_column_decltype(statement, Int32(column)).map { String(cString: $0) }
  }

  /// A value as it is stored: null, an integer, a double, a string or data.
  func value(_ column: Int) -> Value {
    switch sqlite3_column_type(statement, Int32(column)) {
    case SQLITE_INTEGER: .int(integer(column))
    case SQLITE_FLOAT: .double(sqlite3_column_double(statement, Int32(column)))
    case SQLITE_TEXT: .string(text(column))
    case SQLITE_BLOB: .data(Data(blob(column) ?? []))
    default: .null
    }
  }

  func integer(_ column: Int) -> Int64 { sqlite3_column_int64(statement, Int32(column)) }

  /// A blob's bytes; nil for any other value.
  func blob(_ column: Int) -> [UInt8]? {
    guard sqlite3_column_type(statement, Int32(column)) == SQLITE_BLOB,
      let blob = sqlite3_column_blob(statement, Int32(column))
    else { return nil }
    let count = Int(sqlite3_column_bytes(statement, Int32(column)))
    return Array(UnsafeRawBufferPointer(start: blob, count: count))
  }

  func text(_ column: Int) -> String { String(decoding: bytes(column), as: UTF8.self) }

  func bytes(_ column: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    append(column, to: &bytes)
    return bytes
  }

  /// Appends a value as text: numbers as JSON writes them, blobs as Base64. Returns its kind.
  @discardableResult
  func append(_ column: Int, to output: inout [UInt8]) -> Cell.Kind {
    let column = Int32(column)
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER:
      output.append(contentsOf: String(sqlite3_column_int64(statement, column)).utf8)
      return .number
    case SQLITE_FLOAT:
      let number = sqlite3_column_double(statement, column)
      output.append(contentsOf: number.description.utf8)
      return number.isFinite ? .number : .text
    case SQLITE_TEXT:
      // In this order: the text is made first, and then its bytes are counted.
      if let text = sqlite3_column_text(statement, column) {
        output.append(
          contentsOf: UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column))))
      } else {
        lacksValue = true
      }
      return .text
    case SQLITE_BLOB:
      if let blob = sqlite3_column_blob(statement, column) {
        let count = Int(sqlite3_column_bytes(statement, column))
        Base64.appendPlainly(UnsafeRawBufferPointer(start: blob, count: count), to: &output)
      } else if sqlite3_column_bytes(statement, column) > 0 {
        lacksValue = true
      }
      return .text
    default: return .null
    }
  }
}
