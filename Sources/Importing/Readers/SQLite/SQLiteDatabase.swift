// A database that a stranger wrote is opened here, and this is what it can't do:
//
// 1. Have another file opened, or its own written: it is read through its descriptor, by a file system of one file.
// 2. Run anything: only SELECT is allowed, with functions that compute something from their arguments; no trigger, no
//    extension, no virtual table; views only for a query that names them.
// 3. Take memory that grows with it: lengths, depths and the page cache are bounded, nothing is mapped. What queries sort
//    and keep on the way goes to temporary files, whose size is bounded.
// 4. Go on for ever: the work between two rows is counted, and that of all rows (`SQLiteGuardian`). No function takes longer
//    than a bounded time for each byte of its arguments.
// 5. Have a query grow without end before it runs: what views and WITHs stand for is counted first (`SQLExpansion`).

import CSQLite

/// A connection to a SQLite file that is only read. Belongs to one thread at a time.
final class SQLiteDatabase {
  /// Tables with rows of their own.
  private(set) var tables: [String] = []
  /// The statements that make its views, by their folded names.
  private var views: [String: [UInt8]] = [:]
  let connection: OpaquePointer
  private let source: OpaquePointer
  private let guardian: SQLiteGuardian

  /// Steps that reading the schema may take: some ten thousands of tables.
  private static let schemaSteps = 500_000
  private static let cacheKiB = 4_096

  /// - Parameters:
  ///   - isQueried: whether a query will be run, which may name views.
  ///   - allowance: what a query may cost; nil: what is usual for a file of this size.
  init(
    descriptor: Int32, fileSize: Int64, isQueried: Bool, maximumRecordBytes: Int, allowance: SQLiteAllowance? = nil,
    meters: SQLiteMeters = SQLiteMeters()
  ) throws(ReaderError) {
    let allowance = allowance ?? SQLiteAllowance(fileSize: fileSize, maximumRecordBytes: maximumRecordBytes)
    guardian = SQLiteGuardian(allowance: allowance, meters: meters)
    var opened: OpaquePointer?
    let result = lade_source_open(descriptor, isQueried ? 1 : 0, allowance.temporaryBytes, &opened)
    guard let opened, result == SQLITE_OK, let connection = lade_source_connection(opened) else {
      let reason = String(cString: sqlite3_errstr(result))
      lade_source_close(opened)
      throw .database(.failed(reason: reason, record: 0))
    }
    source = opened
    self.connection = connection
    // The schema is read at the first statement, and kept in memory.
    guardian.allowance.steps = Self.schemaSteps
    limitLengths(maximumRecordBytes)
    try watch()
    for pragma in ["cell_size_check = ON", "mmap_size = 0", "cache_size = -\(Self.cacheKiB)", "query_only = ON"] {
      try run("PRAGMA \(pragma)")
    }
    try findTables()
    authorize()
    guardian.allowance = allowance
  }

  deinit { lade_source_close(source) }

  /// What SQLite says of the last failure.
  var failure: SQLiteSourceError {
    if let refusal = guardian.refusal { return refusal }
    if lade_source_is_out_of_space(source) != 0 {
      return .tooMuchToKeep(limit: guardian.allowance.temporaryBytes)
    }
    let reason = String(cString: sqlite3_errmsg(connection))
    switch sqlite3_errcode(connection) & 0xFF {
    case SQLITE_ERROR, SQLITE_TOOBIG, SQLITE_MISMATCH: return .cannotCompute(reason: reason, record: 0)
    // It is only read: what is full is where temporary files are.
    case SQLITE_FULL: return .noTemporarySpace
    default: return .failed(reason: reason, record: 0)
    }
  }

  /// Whether the last failure was a value or row longer than allowed.
  var hasFoundTooLong: Bool { sqlite3_errcode(connection) == SQLITE_TOOBIG }

  /// Forgets the work done so far: a row has come.
  func beginRow() { guardian.beginRow() }

  /// Between these SQLite works, and the time is counted; it is from the beginning on.
  func pause() { guardian.end() }
  func resume() { guardian.begin() }

  /// A statement that whoever hands in the file wrote.
  func prepareQuery(_ sql: String) -> Result<SQLiteRows, SQLiteSourceError> {
    guard SQLExpansion(views: views).allows(sql) else {
      let reason =
        "with all views and WITHs put in it has more than 1000 SELECTs, or they nest too deep, or in a circle"
      return .failure(.badQuery(reason: reason))
    }
    return prepare(sql)
  }

  /// A statement; nil and SQLite's words when there is something wrong with it, or more than one.
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
      return .failure(
        guardian.refusal ?? .badQuery(reason: String(cString: sqlite3_errmsg(connection))))
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

  /// A name as SQL has it.
  static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

  private func limitLengths(_ maximumRecordBytes: Int) {
    let limits: [(Int32, Int)] = [
      // A row as it is stored, and room for what else the machine makes.
      (SQLITE_LIMIT_LENGTH, max(1 << 20, maximumRecordBytes)), (SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
      (SQLITE_LIMIT_COLUMN, 2_000), (SQLITE_LIMIT_EXPR_DEPTH, 100), (SQLITE_LIMIT_COMPOUND_SELECT, 50),
      // As many steps may be without a look, and a pattern's length is a factor of the time that a step takes.
      (SQLITE_LIMIT_VDBE_OP, 25_000), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100), (SQLITE_LIMIT_FUNCTION_ARG, 100),
      (SQLITE_LIMIT_ATTACHED, 0), (SQLITE_LIMIT_VARIABLE_NUMBER, 10), (SQLITE_LIMIT_TRIGGER_DEPTH, 1),
      (SQLITE_LIMIT_WORKER_THREADS, 0),
    ]
    for (limit, value) in limits { sqlite3_limit(connection, limit, Int32(clamping: value)) }
  }

  /// Has the work counted.
  private func watch() throws(ReaderError) {
    let context = Unmanaged.passUnretained(guardian).toOpaque()
    sqlite3_progress_handler(
      connection, Int32(SQLiteGuardian.stepsALook),
      { context in
        guard let context else { return 1 }
        let guardian = Unmanaged<SQLiteGuardian>.fromOpaque(context).takeUnretainedValue()
        return guardian.look(steps: SQLiteGuardian.stepsALook) ? 1 : 0
      }, context)
    let result = lade_source_add_functions(
      source,
      { context in
        guard let context else { return 1 }
        return Unmanaged<SQLiteGuardian>.fromOpaque(context).takeUnretainedValue().look(steps: 0) ? 1 : 0
      }, context)
    guard result == SQLITE_OK else { throw .database(failure) }
  }

  private func run(_ sql: String) throws(ReaderError) {
    guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw .database(failure) }
  }

  /// Finds what has rows of its own: of virtual tables the root page is zero.
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
        guardian.readable.insert(name.lowercased())
        if rows.integer(1) == 0 { tables.append(name) } else { views[SQLToken.folded(rows.bytes(0))] = rows.bytes(2) }
      }
    }
    guardian.readable.formUnion(["sqlite_schema", "sqlite_master"])
    beginRow()
  }

  private func authorize() {
    sqlite3_set_authorizer(
      connection,
      { context, action, first, second, _, _ in
        guard let context else { return SQLITE_DENY }
        let guardian = Unmanaged<SQLiteGuardian>.fromOpaque(context).takeUnretainedValue()
        switch action {
        case SQLITE_SELECT, SQLITE_RECURSIVE: return SQLITE_OK
        case SQLITE_READ:
          let table = first.map { String(cString: $0).lowercased() } ?? ""
          // Without a column it is a table of which only the rows are counted, or a name that the query made itself.
          return table.isEmpty || second.map({ $0.pointee == 0 }) ?? true || guardian.readable.contains(table)
            ? SQLITE_OK : SQLITE_DENY
        case SQLITE_FUNCTION:
          let name = second.map { String(cString: $0).lowercased() } ?? ""
          return SQLiteDatabase.harmless.contains(name) ? SQLITE_OK : SQLITE_DENY
        default: return SQLITE_DENY
        }
      }, Unmanaged.passUnretained(guardian).toOpaque())
  }

  /// Functions that give the same for the same arguments, and do nothing else. json_patch isn't among them, which compares
  /// each key of one object with all of the other, nor are json_set and json_insert, which go down by a path as deep as it
  /// is long, until the stack ends.
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
