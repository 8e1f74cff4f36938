import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Importing

@Suite("A copy of a database with its write-ahead log")
struct SQLiteLogTests {
  private let folder: ScratchDirectory
  private let file: URL
  private let copy: URL

  init() throws {
    folder = try ScratchDirectory()
    (file, copy) = (folder.file("app.sqlite"), folder.file("copy.sqlite"))
  }

  /// Runs `body` while a program has the database open and has run these statements.
  private func running(_ statements: String..., body: (OpaquePointer?) throws -> Void) throws {
    var connection: OpaquePointer?
    defer { sqlite3_close(connection) }
    try #require(sqlite3_open(file.path, &connection) == SQLITE_OK)
    for sql in statements { try execute(sql, connection) }
    try body(connection)
  }

  private func execute(_ sql: String, _ connection: OpaquePointer?) throws {
    try #require(sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK, "\(sql)")
  }

  /// Copies the file alone, as the spool does, and then completes the copy.
  private func complete(meanwhile: () throws -> Void = {}) throws {
    try? FileManager.default.removeItem(at: copy)
    try FileManager.default.copyItem(at: file, to: copy)
    let (source, target) = (try FileHandle(forReadingFrom: file), try FileHandle(forUpdating: copy))
    try meanwhile()
    try SQLiteLog.complete(copy: target.fileDescriptor, of: source.fileDescriptor, at: file.path)
  }

  /// A number that the copy has, without a log.
  private func number(_ sql: String) throws -> Int32 {
    var connection: OpaquePointer?
    var statement: OpaquePointer?
    defer {
      sqlite3_finalize(statement)
      sqlite3_close(connection)
    }
    try #require(sqlite3_open(copy.path, &connection) == SQLITE_OK)
    try #require(sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK)
    try #require(sqlite3_step(statement) == SQLITE_ROW)
    return sqlite3_column_int(statement, 0)
  }

  @Test("has what was committed in the log alone, whole, and needs no log itself")
  func completed() throws {
    try running(
      "PRAGMA journal_mode = WAL", "CREATE TABLE t (a)", "INSERT INTO t VALUES (1)", "PRAGMA wal_checkpoint(TRUNCATE)",
      "PRAGMA wal_autocheckpoint = 0", "UPDATE t SET a = 2",
      "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO t SELECT randomblob(900) FROM n",
      "BEGIN", "DELETE FROM t"
    ) { _ in
      let before = try Data(contentsOf: file)
      try complete()
      #expect(try Data(contentsOf: file) == before)
    }
    #expect(try number("SELECT count(*) FROM t") == 501)
    #expect(try number("SELECT a FROM t WHERE rowid = 1") == 2)
    #expect(try number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") == 1)
    #expect(try Data(contentsOf: copy)[18...19] == Data([1, 1]))
  }

  @Test("is smaller where the log has made the database smaller")
  func shrunk() throws {
    try running(
      "PRAGMA auto_vacuum = FULL", "PRAGMA journal_mode = WAL", "CREATE TABLE t (a)",
      "INSERT INTO t VALUES (zeroblob(400000))", "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA wal_autocheckpoint = 0",
      "UPDATE t SET a = 3"
    ) { _ in
      try complete()
      #expect(try Data(contentsOf: copy).count < Data(contentsOf: file).count / 10)
    }
    #expect(try number("SELECT a FROM t") == 3)
  }

  @Test("is the file itself where there is no log, and says that it needs none")
  func noLog() throws {
    try running("PRAGMA journal_mode = WAL", "CREATE TABLE t (a)", "INSERT INTO t VALUES (1)") { _ in }
    try complete()
    #expect(try number("SELECT a FROM t") == 1)
    #expect(try Data(contentsOf: copy)[18...19] == Data([1, 1]))
    try Data("id,name\n".utf8).write(to: file)
    try complete()
    #expect(try Data(contentsOf: copy) == Data("id,name\n".utf8))
  }

  @Test("is refused with the log's name where that isn't a regular file of the same owner with one name")
  func otherLog() throws {
    try running("PRAGMA journal_mode = WAL", "CREATE TABLE t (a)") { _ in }
    let log = URL(fileURLWithPath: file.path + "-wal")
    for make in [
      { try FileManager.default.createSymbolicLink(at: log, withDestinationURL: self.file) },
      { try FileManager.default.createDirectory(at: log, withIntermediateDirectories: false) },
      { try FileManager.default.linkItem(at: self.file, to: log) },
    ] as [() throws -> Void] {
      try make()
      let error = #expect(throws: ReaderError.self) { try complete() }
      #expect(error.map { "\($0)" }?.contains("app.sqlite-wal can't be read") == true, "\(String(describing: error))")
      try FileManager.default.removeItem(at: log)
    }
  }
}
