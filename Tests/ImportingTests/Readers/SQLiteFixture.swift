import CSQLite
import Foundation
import TestSupport

/// An SQLite file made by statements.
enum SQLiteFixture {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The bytes of a database that these statements make.
  static func bytes(_ sql: String) throws -> [UInt8] {
    let directory = try ScratchDirectory()
    let file = directory.file("fixture.db")
    try make(sql, at: file)
    return Array(try Data(contentsOf: file))
  }

  /// Makes a database of these statements, or changes one.
  static func make(_ sql: String, at file: URL) throws {
    var connection: OpaquePointer?
    defer { sqlite3_close(connection) }
    guard sqlite3_open(file.path, &connection) == SQLITE_OK,
      sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK
    else { throw Failure(description: String(cString: sqlite3_errmsg(connection))) }
  }
}
