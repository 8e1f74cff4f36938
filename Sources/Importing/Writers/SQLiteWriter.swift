import CSQLite
import Foundation
import ManagedObjects

/// Writes an SQLite file of one table, with values as in this library's own stores: dates as SQLite's own text, decimals and
/// UUIDs as text, data as blobs. There is no journal, because the file doesn't appear before it is complete.
final class SQLiteWriter: RecordWriter {
  private static let largestCommit = 50_000
  private let file: AtomicFile
  private let columns: [WrittenColumn]
  private let collections: [WrittenCollection]
  private let connection: OpaquePointer
  private var statement: OpaquePointer?
  private var isClosed = false
  private let scratch = TextBuffer(capacity: 1 << 10)
  private var rows = 0

  init(_ file: AtomicFile, _ layout: WrittenFormat.Layout) throws {
    self.file = file
    columns = layout.columns
    collections = layout.collections
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
    let table = Self.quoted(layout.title)
    let definitions =
      columns.map { "\(Self.quoted($0.name)) \($0.declaredType)" }
      + collections.map { "\(Self.quoted($0.name)) TEXT" }
    try run("BEGIN")
    try run("CREATE TABLE \(table) (\(definitions.joined(separator: ", ")))")
    let marks = repeatElement("?", count: definitions.count).joined(separator: ",")
    guard sqlite3_prepare_v2(connection, "INSERT INTO \(table) VALUES (\(marks))", -1, &statement, nil) == SQLITE_OK
    else {
      throw failure()
    }
  }

  deinit {
    sqlite3_finalize(statement)
    if !isClosed { sqlite3_close(connection) }
  }

  func write(_ values: ContiguousArray<Value>, _ collected: [[ContiguousArray<Value>]]) throws {
    for index in columns.indices { try bind(values[index], of: columns[index], at: Int32(index + 1)) }
    for (index, collection) in collections.enumerated() {
      let text = try KeyList.text(collected[index], of: collection)
      let place = Int32(columns.count + index + 1)
      if text.isEmpty {
        sqlite3_bind_null(statement, place)
      } else {
        try check(text.withUnsafeBufferPointer { bind($0, at: place) })
      }
    }
    guard sqlite3_step(statement) == SQLITE_DONE else { throw failure() }
    sqlite3_reset(statement)
    rows += 1
    // Written pages leave the cache only at the end of a transaction.
    if rows.isMultiple(of: Self.largestCommit) {
      try run("COMMIT")
      try run("BEGIN")
    }
  }

  func finish() throws {
    try run("COMMIT")
    sqlite3_finalize(statement)
    statement = nil
    guard sqlite3_close(connection) == SQLITE_OK else { throw failure() }
    isClosed = true
    try file.noteLength()
  }

  private func bind(_ value: Value, of column: WrittenColumn, at place: Int32) throws(WriterError) {
    switch value {
    case .null, .unresolved: sqlite3_bind_null(statement, place)
    case .bool(let flag): sqlite3_bind_int64(statement, place, flag ? 1 : 0)
    case .int(let number): sqlite3_bind_int64(statement, place, number)
    case .double(let number): sqlite3_bind_double(statement, place, number)
    case .string(var text): try check(text.withUTF8 { bind($0, at: place) })
    case .data(let data) where !column.isJSON:
      // A zeroblob, because a blob without an address would be null.
      let code =
        data.isEmpty
        ? sqlite3_bind_zeroblob(statement, place, 0)
        : data.withUnsafeBytes {
          sqlite3_bind_blob64(statement, place, $0.baseAddress, sqlite3_uint64($0.count), Self.copied)
        }
      try check(code)
    case .date(let date):
      if case .iso = column.dates, let text = ISODate.text(of: date) {
        var text = text
        return try check(text.withUTF8 { bind($0, at: place) })
      }
      fallthrough
    default:
      scratch.removeAll()
      try scratch.append(value, of: column)
      try check(bind(UnsafeBufferPointer(start: scratch.start, count: scratch.count), at: place))
    }
  }

  /// SQLite copies the bytes, so they needn't outlive the call.
  /// - Returns: SQLite's result code.
  private func bind(_ text: UnsafeBufferPointer<UInt8>, at place: Int32) -> Int32 {
    text.withMemoryRebound(to: CChar.self) { text in
      guard let start = text.baseAddress else { return sqlite3_bind_text(statement, place, "", 0, nil) }
      return sqlite3_bind_text64(
        statement, place, start, sqlite3_uint64(text.count), Self.copied, UInt8(SQLITE_UTF8))
    }
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

  private static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

  /// SQLITE_TRANSIENT, a macro that Swift doesn't import.
  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

extension WrittenColumn {
  /// The declared type of a column, chosen so that SQLite stores values as they are bound.
  fileprivate var declaredType: String {
    switch type {
    case .integer16, .integer32, .integer64, .boolean, nil: "INTEGER"
    case .double, .float: "REAL"
    case .date: if case .unix = dates { "REAL" } else { "TEXT" }
    case .binaryData: "BLOB"
    case .transformable: isJSON ? "TEXT" : "BLOB"
    case .decimal, .string, .uuid, .uri, .objectID, .composite, .undefined: "TEXT"
    }
  }
}
