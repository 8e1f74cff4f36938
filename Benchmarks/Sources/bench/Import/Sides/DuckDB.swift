import BenchSupport
import Foundation

/// DuckDB's command line, into a database file of its own.
struct DuckDB {
  var version: String
  private var program: String

  /// The one that `make bench-peers` has installed, or one in `PATH`; nil if there is none.
  init?(peers: URL) throws {
    let installed = peers.appending(path: "duckdb")
    let isInstalled = FileManager.default.isExecutableFile(atPath: installed.path)
    guard let found = isInstalled ? installed : programInPath("duckdb") else { return nil }
    program = found.path
    version =
      try MeasuredProgram(program, ["--version"]).run().output.split(separator: " ").first.map(String.init) ?? ""
  }

  /// The peer's name in a table.
  var name: String { "DuckDB \(version)" }

  /// Makes the table and its index, and copies the file into it: one process, with as many threads as there are cores.
  func importPeople(into database: URL, from csv: URL) throws -> MeasuredRun {
    try run(
      database,
      [
        """
        CREATE TABLE Person (id BIGINT PRIMARY KEY, name VARCHAR, email VARCHAR, age INTEGER, balance DOUBLE, \
        created TIMESTAMP, note VARCHAR)
        """,
        "CREATE INDEX Person_email ON Person (email)",
        "COPY Person FROM '\(csv.path)' (FORMAT csv, HEADER)",
      ])
  }

  /// Reads the whole table. DuckDB has no check of a file.
  func contents(of database: URL) throws -> Contents {
    let lines = try run(
      database,
      [
        "SELECT count(*) FROM Person",
        """
        SELECT sum(id), sum(strlen(name)), sum(strlen(note)), sum(unicode(note)), \
        sum(age), printf('%.2f', sum(balance)), count(created) FROM Person
        """,
        "SELECT count(DISTINCT email), min(email), max(email) FROM Person",
      ]
    ).output.split(separator: "\n").map(String.init)
    guard lines.count == 3, let rows = Int(lines[0]) else {
      return Contents(rows: 0, sums: "", integrity: lines.joined(separator: "; "))
    }
    return Contents(rows: rows, sums: lines[1...].joined(separator: "|"), integrity: "ok")
  }

  private func run(_ database: URL, _ commands: [String]) throws -> MeasuredRun {
    try MeasuredProgram(
      program, ["-batch", "-bail", "-list", "-noheader", database.path] + commands.flatMap { ["-c", $0] }
    ).run()
  }
}
