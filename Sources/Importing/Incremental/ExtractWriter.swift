import CSQLite

/// Writes an extract. Belongs to one thread. Without a journal, because the file doesn't appear before it is complete.
package final class ExtractWriter {
  /// The table of the rows.
  static let table = "lade_rows"
  static let windowQuery = "SELECT name, since, bound, until, kind, count FROM lade_window"
  /// Written pages leave the cache only at the end of a transaction.
  private static let largestCommit: Int64 = 50_000

  private let file: AtomicFile
  private let connection: OpaquePointer
  private var statement: OpaquePointer?
  private var isClosed = false
  private(set) var rows: Int64 = 0

  /// - Parameter columns: names that differ, also in lower case.
  init(_ file: AtomicFile, columns: [String]) throws {
    self.file = file
    var opened: OpaquePointer?
    // The file exists and is empty; a link in its place isn't followed.
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
    let code = sqlite3_open_v2(file.hiddenPath, &opened, flags, nil)
    guard let opened else { throw WriterError.database(path: file.path, code: code, reason: "there is no memory") }
    connection = opened
    guard code == SQLITE_OK else { throw failure() }
    for pragma in ["page_size = 8192", "journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"] {
      try run("PRAGMA \(pragma)")
    }
    try run("BEGIN")
    // Columns without a type keep values as they are.
    let names = columns.map(SQLiteDatabase.quoted).joined(separator: ", ")
    try run("CREATE TABLE \(Self.table) (\(names))")
    try run("CREATE TABLE lade_window (name, since, bound, until, kind, count)")
    let marks = repeatElement("?", count: columns.count).joined(separator: ",")
    try prepare("INSERT INTO \(Self.table) VALUES (\(marks))")
  }

  deinit {
    sqlite3_finalize(statement)
    if !isClosed { sqlite3_close(connection) }
  }

  /// Sets a column of the next row, counted from 0, to a value of another connection.
  func set(_ column: Int, to value: OpaquePointer?) throws(WriterError) {
    try check(sqlite3_bind_value(statement, Int32(column + 1), value))
  }

  /// Sets a column of the next row to null.
  package func setNull(_ column: Int) throws(WriterError) { try check(sqlite3_bind_null(statement, Int32(column + 1))) }

  /// Sets a column of the next row.
  package func set(_ column: Int, to number: Int64) throws(WriterError) {
    try check(sqlite3_bind_int64(statement, Int32(column + 1), number))
  }

  /// Sets a column of the next row.
  package func set(_ column: Int, to number: Double) throws(WriterError) {
    try check(sqlite3_bind_double(statement, Int32(column + 1), number))
  }

  /// Sets a column of the next row to a text, which is copied.
  package func set(_ column: Int, to text: UnsafeBufferPointer<CChar>) throws(WriterError) {
    guard let start = text.baseAddress else {
      return try check(sqlite3_bind_text(statement, Int32(column + 1), "", 0, nil))
    }
    try check(
      sqlite3_bind_text64(
        statement, Int32(column + 1), start, sqlite3_uint64(text.count), Self.copied, UInt8(SQLITE_UTF8)))
  }

  /// Sets a column of the next row to bytes, which are copied.
  package func set(_ column: Int, toBytes bytes: UnsafeRawBufferPointer) throws(WriterError) {
    let place = Int32(column + 1)
    // A zeroblob, because a blob without an address would be null.
    try check(
      bytes.isEmpty
        ? sqlite3_bind_zeroblob(statement, place, 0)
        : sqlite3_bind_blob64(statement, place, bytes.baseAddress, sqlite3_uint64(bytes.count), Self.copied))
  }

  /// Writes the row whose columns have been set.
  package func endRow() throws(WriterError) {
    guard sqlite3_step(statement) == SQLITE_DONE else { throw failure() }
    sqlite3_reset(statement)
    rows += 1
    guard rows.isMultiple(of: Self.largestCommit) else { return }
    try run("COMMIT")
    try run("BEGIN")
  }

  /// Completes the file. It is durable on return.
  func finish(_ window: ExtractWindow) throws {
    try prepare("INSERT INTO lade_window VALUES (?,?,?,?,?,?)")
    let texts = [window.column, window.since?.stored, window.bound?.stored, window.until?.stored, window.kind?.stored]
    for (column, text) in texts.enumerated() {
      guard let text else { continue }
      try text.utf8CString.withUnsafeBufferPointer { bytes throws(WriterError) in
        try set(column, to: UnsafeBufferPointer(rebasing: bytes.dropLast()))
      }
    }
    try set(texts.count, to: window.rows)
    guard sqlite3_step(statement) == SQLITE_DONE else { throw failure() }
    try run("COMMIT")
    sqlite3_finalize(statement)
    statement = nil
    guard sqlite3_close(connection) == SQLITE_OK else { throw failure() }
    isClosed = true
    try file.commit()
  }

  private func prepare(_ sql: String) throws(WriterError) {
    sqlite3_finalize(statement)
    statement = nil
    guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK else { throw failure() }
  }

  /// A value that couldn't be bound would be written as null.
  private func check(_ code: Int32) throws(WriterError) {
    guard code == SQLITE_OK else {
      throw .database(path: file.path, code: code, reason: String(cString: sqlite3_errstr(code)))
    }
  }

  private func run(_ sql: String) throws(WriterError) {
    guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
  }

  private func failure() -> WriterError {
    .database(
      path: file.path, code: sqlite3_extended_errcode(connection), reason: String(cString: sqlite3_errmsg(connection)))
  }

  /// SQLITE_TRANSIENT, a macro that Swift doesn't import.
  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}
