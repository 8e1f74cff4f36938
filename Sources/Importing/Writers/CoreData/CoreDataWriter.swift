import CSQLite
package import CoreDataStores
import Foundation
package import ManagedObjects

/// Writes a Core Data store from a template: its tables, indexes and triggers, the rows that it is given, and at the end the
/// greatest numbers of rows. Belongs to one thread at a time.
///
/// Triggers don't run: what they would derive is given with the rows, and they call functions that only Core Data's own process
/// has. There is no journal, because the file doesn't appear before it is complete.
///
/// A template comes from whoever submits the job (rule 8, ARCHITECTURE.md): its statements may make tables, indexes and triggers
/// and nothing else, and functions that a value or an index could call are refused.
package final class CoreDataWriter {
  private static let largestCommit = 50_000
  private let file: AtomicFile
  private let template: CoreDataTemplate
  private let connection: OpaquePointer
  private var statements: [String: OpaquePointer] = [:]
  private var isClosed = false
  private var rows = 0

  /// Makes the empty store in a file that is being made.
  /// - Throws: ``WriterError``, and ``CoreDataFileError/badTemplate(statement:reason:)``.
  package init(_ file: AtomicFile, _ template: CoreDataTemplate) throws {
    self.file = file
    self.template = template
    var opened: OpaquePointer?
    // The file exists and is empty; a link in its place isn't followed.
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
    let code = sqlite3_open_v2(file.hiddenPath, &opened, flags, nil)
    guard let opened else { throw WriterError.database(path: file.path, code: code, reason: "there is no memory") }
    connection = opened
    guard code == SQLITE_OK, lade_set_triggers(connection, 0) == SQLITE_OK else { throw failure() }
    for pragma in template.pragmas + ["journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"] {
      try run("PRAGMA \(pragma)")
    }
    sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0)
    try run("BEGIN")
    allow(making: true)
    for (sql, arguments) in template.statements {
      do throws(WriterError) {
        try step(sql, arguments)
      } catch {
        guard Self.wrong.contains(sqlite3_errcode(connection)) else { throw error }
        throw CoreDataFileError.badTemplate(
          statement: String(sql.prefix(100)), reason: String(cString: sqlite3_errmsg(connection)))
      }
    }
    allow(making: false)
  }

  /// The results of statements that can't succeed.
  private static let wrong: Set<Int32> = [SQLITE_ERROR, SQLITE_AUTH, SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_RANGE]

  /// What statements may do: make what a schema consists of, or else write and read rows.
  private func allow(making: Bool) {
    if making {
      sqlite3_set_authorizer(
        connection, { _, action, _, name, _, _ in CoreDataWriter.answer(action, name, isMaking: true) }, nil)
    } else {
      sqlite3_set_authorizer(
        connection, { _, action, _, name, _, _ in CoreDataWriter.answer(action, name, isMaking: false) }, nil)
    }
  }

  private static func answer(_ action: Int32, _ name: UnsafePointer<CChar>?, isMaking: Bool) -> Int32 {
    switch action {
    case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_READ, SQLITE_TRANSACTION: SQLITE_OK
    case SQLITE_CREATE_TABLE, SQLITE_CREATE_INDEX, SQLITE_CREATE_TRIGGER, SQLITE_REINDEX:
      isMaking ? SQLITE_OK : SQLITE_DENY
    case SQLITE_SELECT: isMaking ? SQLITE_DENY : SQLITE_OK
    case SQLITE_FUNCTION:
      ["max", "ifnull", "lower", "upper"].contains(name.map { String(cString: $0).lowercased() } ?? "")
        ? SQLITE_OK : SQLITE_DENY
    default: SQLITE_DENY
    }
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    if !isClosed { sqlite3_close(connection) }
  }

  /// Runs a statement with arguments: null, integers, doubles, strings and data.
  /// - Throws: ``WriterError``, and ``CoreDataFileError/unstorable(place:reason:)`` for a row that the app's model doesn't allow
  ///   beside another.
  package func execute(_ sql: String, _ arguments: [Value]) throws {
    do throws(WriterError) {
      try step(sql, arguments)
    } catch {
      guard sqlite3_errcode(connection) == SQLITE_CONSTRAINT else { throw error }
      throw CoreDataFileError.unstorable(
        place: "the template allows one object only for each value", reason: String(cString: sqlite3_errmsg(connection))
      )
    }
  }

  private func step(_ sql: String, _ arguments: [Value]) throws(WriterError) {
    let statement = try prepared(sql)
    for (index, value) in arguments.enumerated() {
      let code = bind(value, to: statement, at: Int32(index + 1))
      // It would be written as null.
      guard code == SQLITE_OK else {
        throw .database(path: file.path, code: code, reason: String(cString: sqlite3_errstr(code)))
      }
    }
    let result = sqlite3_step(statement)
    // Gives the step's own result again, which stays the connection's error.
    sqlite3_reset(statement)
    guard result == SQLITE_DONE || result == SQLITE_ROW else { throw failure() }
    rows += 1
    // Written pages leave the cache only at the end of a transaction.
    if rows.isMultiple(of: Self.largestCommit) {
      try run("COMMIT")
      try run("BEGIN")
    }
  }

  /// Writes the greatest numbers of rows, and ends the file, which can then be committed.
  /// - Throws: ``WriterError``.
  package func finish(_ layout: CoreDataLayout) throws(WriterError) {
    for (description, entity) in layout.numberedEntities where description.superentity == nil {
      try step(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = max(Z_MAX, (SELECT ifnull(max(Z_PK), 0) FROM "
          + "\(SQLiteDatabase.quoted(entity.table)))) WHERE Z_ENT = ?",
        [.int(entity.number)])
    }
    try run("COMMIT")
    for statement in statements.values { sqlite3_finalize(statement) }
    statements = [:]
    guard sqlite3_close(connection) == SQLITE_OK else { throw failure() }
    isClosed = true
    try file.noteLength()
  }

  private func prepared(_ sql: String) throws(WriterError) -> OpaquePointer {
    if let known = statements[sql] { return known }
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK, let statement else { throw failure() }
    statements[sql] = statement
    return statement
  }

  /// - Returns: SQLite's result code.
  private func bind(_ value: Value, to statement: OpaquePointer, at place: Int32) -> Int32 {
    switch value {
    case .int(let number): sqlite3_bind_int64(statement, place, number)
    case .double(let number): sqlite3_bind_double(statement, place, number)
    case .string(var text):
      text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { bytes in
          guard let start = bytes.baseAddress else { return sqlite3_bind_text(statement, place, "", 0, nil) }
          return sqlite3_bind_text64(
            statement, place, start, sqlite3_uint64(bytes.count), Self.copied, UInt8(SQLITE_UTF8))
        }
      }
    case .data(let data) where data.isEmpty: sqlite3_bind_zeroblob(statement, place, 0)
    case .data(let data):
      data.withUnsafeBytes {
        sqlite3_bind_blob64(statement, place, $0.baseAddress, sqlite3_uint64($0.count), Self.copied)
      }
    default: sqlite3_bind_null(statement, place)
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
