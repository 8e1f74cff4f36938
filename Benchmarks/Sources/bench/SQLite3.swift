import BenchSupport
import Foundation

/// The peer: SQLite's own shell. It also tells what is in a store, ours or its own.
struct SQLite3 {
  var version: String
  private var program: String

  /// Nil if it isn't installed.
  init?() throws {
    guard let found = programInPath("sqlite3") else { return nil }
    program = found.path
    version =
      try MeasuredProgram(program, ["--version"]).run().output.split(separator: " ").first.map(String.init) ?? ""
  }

  /// Makes the table, its index and WAL, and imports the file: one process, as a person would do it.
  func importPeople(into database: URL, from csv: URL) throws -> MeasuredRun {
    try MeasuredProgram(
      program,
      [
        "-batch", "-bail", database.path,
        "PRAGMA journal_mode = WAL",
        """
        CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT, email TEXT, age INTEGER, balance REAL, \
        created TEXT, note TEXT)
        """,
        "CREATE INDEX Person_email ON Person (email)",
        ".import --csv --skip 1 \"\(csv.path)\" Person",
      ]
    ).run()
  }

  /// What two stores have alike if and only if the same rows came in, but for the dates, which each keeps
  /// in its own way.
  struct Contents: Equatable, CustomStringConvertible {
    var rows: Int
    var sums: String
    var integrity: String

    var description: String { "\(rows) rows, sums \(sums), integrity \(integrity)" }
  }

  /// Reads the whole table and its index, and checks the file.
  func contents(of database: URL) throws -> Contents {
    let output = try MeasuredProgram(
      program,
      [
        "-batch", "-bail", "-readonly", database.path,
        "PRAGMA integrity_check",
        "SELECT count(*) FROM Person",
        """
        SELECT sum(id), sum(length(CAST(name AS BLOB))), sum(length(CAST(note AS BLOB))), sum(unicode(note)), \
        sum(age), printf('%.2f', total(balance)), count(created) FROM Person
        """,
        "SELECT count(DISTINCT email), min(email), max(email) FROM Person",
      ]
    ).run().output
    let lines = output.split(separator: "\n").map(String.init)
    guard lines.count >= 4, let rows = Int(lines[lines.count - 3]) else {
      return Contents(rows: 0, sums: "", integrity: output)
    }
    return Contents(
      rows: rows, sums: lines.suffix(2).joined(separator: "|"), integrity: lines.dropLast(3).joined(separator: "; "))
  }
}
