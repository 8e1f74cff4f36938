// A database that a stranger wrote is opened here, and this is what it can't do:
//
// 1. Have another file opened, or its own written: it is read through its descriptor, by a file system of one file.
// 2. Run anything: only SELECT is allowed, with functions that compute something from their arguments; no trigger, no
//    extension, no virtual table; views only for a query that names them.
// 3. Take memory that grows with it: lengths, depths and the page cache are bounded, nothing is mapped.
// 4. Go on for ever: the work between two rows is counted, and that of all rows.

import CSQLite

/// A connection to a SQLite file that is only read. Belongs to one thread at a time.
final class SQLiteDatabase {
  /// Tables with rows of their own.
  private(set) var tables: [String] = []
  let connection: OpaquePointer
  private let guardian: Guardian

  /// What the callbacks of a connection look at.
  private final class Guardian {
    var readable: Set<String> = []
    /// Steps since the last row, and since the file was opened.
    var work = 0
    var total = 0
    var limit = 0
    var isExceeded = false
    /// Whoever hands in a file may write its query as well, of which each row is cheap enough and the whole isn't.
    private static let rows = 100

    func add(_ steps: Int) {
      work += steps
      total += steps
      let (allowed, overflows) = limit.multipliedReportingOverflow(by: Self.rows)
      isExceeded = work > limit || (!overflows && total > allowed)
    }
  }

  /// Steps of SQLite's machine between two looks at how many there were.
  private static let stepsALook: Int32 = 10_000
  /// Steps that any query may take for a row.
  private static let fewSteps = 100_000_000
  private static let stepsAByte = 64
  /// Steps that reading the schema may take: some ten thousands of tables.
  private static let schemaSteps = 500_000
  private static let cacheKiB = 4_096

  /// - Parameters:
  ///   - isQueried: whether a query will be run, which may name views.
  ///   - fewSteps: how many steps any query may take for a row, and a hundred times that for all.
  init(
    descriptor: Int32, fileSize: Int64, isQueried: Bool, maximumRecordBytes: Int,
    fewSteps: Int = SQLiteDatabase.fewSteps
  ) throws(ReaderError) {
    var opened: OpaquePointer?
    let result = lade_sqlite_open(descriptor, isQueried ? 1 : 0, &opened)
    guard let opened, result == SQLITE_OK else {
      let reason = String(cString: sqlite3_errstr(result))
      sqlite3_close(opened)
      throw .database(.failed(reason: reason, record: 0))
    }
    connection = opened
    guardian = Guardian()
    // The schema is read at the first statement, and kept in memory.
    guardian.limit = Self.schemaSteps
    limitLengths(maximumRecordBytes)
    sqlite3_progress_handler(
      connection, Self.stepsALook,
      { context in
        guard let context else { return 1 }
        let guardian = Unmanaged<Guardian>.fromOpaque(context).takeUnretainedValue()
        guardian.add(Int(SQLiteDatabase.stepsALook))
        return guardian.isExceeded ? 1 : 0
      }, Unmanaged.passUnretained(guardian).toOpaque())
    for pragma in ["cell_size_check = ON", "mmap_size = 0", "cache_size = -\(Self.cacheKiB)", "query_only = ON"] {
      try run("PRAGMA \(pragma)")
    }
    try findTables()
    authorize()
    let (steps, overflows) = Int(clamping: fileSize).multipliedReportingOverflow(by: Self.stepsAByte)
    guardian.limit = overflows ? Int.max : max(fewSteps, steps)
  }

  deinit { sqlite3_close(connection) }

  /// What SQLite says of the last failure.
  var failure: SQLiteSourceError {
    guardian.isExceeded
      ? .tooMuchWork : .failed(reason: String(cString: sqlite3_errmsg(connection)), record: 0)
  }

  /// Whether the last failure was a value or row longer than allowed.
  var hasFoundTooLong: Bool { sqlite3_errcode(connection) == SQLITE_TOOBIG }

  /// Forgets the work done so far: a row has come.
  func beginRow() { guardian.work = 0 }

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
        guardian.isExceeded ? .tooMuchWork : .badQuery(reason: String(cString: sqlite3_errmsg(connection))))
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
      (SQLITE_LIMIT_VDBE_OP, 100_000), (SQLITE_LIMIT_FUNCTION_ARG, 100), (SQLITE_LIMIT_ATTACHED, 0),
      (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000), (SQLITE_LIMIT_VARIABLE_NUMBER, 10),
      (SQLITE_LIMIT_TRIGGER_DEPTH, 1), (SQLITE_LIMIT_WORKER_THREADS, 0),
    ]
    for (limit, value) in limits { sqlite3_limit(connection, limit, Int32(clamping: value)) }
  }

  private func run(_ sql: String) throws(ReaderError) {
    guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw .database(failure) }
  }

  /// Finds what has rows of its own: of virtual tables the root page is zero.
  private func findTables() throws(ReaderError) {
    let sql =
      "SELECT name, type = 'view' FROM sqlite_schema WHERE (type = 'table' AND rootpage > 0 "
      + "AND name NOT LIKE 'sqlite!_%' ESCAPE '!') OR type = 'view' ORDER BY name"
    switch prepare(sql) {
    case .failure(let error):
      if case .badQuery(let reason) = error { throw .database(.failed(reason: reason, record: 0)) }
      throw .database(error)
    case .success(let rows):
      while try rows.next() {
        let name = rows.text(0)
        guardian.readable.insert(name.lowercased())
        if rows.integer(1) == 0 { tables.append(name) }
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
        let guardian = Unmanaged<Guardian>.fromOpaque(context).takeUnretainedValue()
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

  /// Functions that give the same for the same arguments, and do nothing else.
  private static let harmless: Set<String> = Set(
    """
    abs avg ceil ceiling char coalesce concat concat_ws cos count cume_dist date datetime degrees dense_rank exp \
    first_value floor format glob group_concat hex ifnull iif instr json json_array json_array_length json_extract \
    json_group_array json_group_object json_insert json_object json_patch json_quote json_remove json_replace json_set \
    json_type json_valid julianday lag last_value lead length like likelihood likely ln log log10 log2 lower ltrim max \
    min mod nth_value ntile nullif octet_length percent_rank pi pow power printf quote radians rank replace round \
    row_number rtrim sign sin sqrt strftime string_agg substr substring sum tan time timediff total trim trunc typeof \
    unhex unicode unixepoch unlikely upper -> ->>
    """.split(separator: " ").map(String.init))
}
