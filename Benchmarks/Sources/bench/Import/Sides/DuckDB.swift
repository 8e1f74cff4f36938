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
    try run(database, Self.table + ["COPY Person FROM '\(csv.path)' (FORMAT csv, HEADER)"])
  }

  /// The same from a Parquet file.
  func importPeople(into database: URL, fromParquet file: URL) throws -> MeasuredRun {
    try run(database, Self.table + ["INSERT INTO Person SELECT * FROM '\(file.path)'"])
  }

  /// Makes a Parquet file of people in CSV, as DuckDB writes it unless told otherwise.
  func writeParquet(_ csv: URL, to file: URL) throws {
    let unfinished = file.deletingPathExtension().appendingPathExtension("part")
    _ = try run(
      nil,
      [
        """
        COPY (SELECT * FROM read_csv('\(csv.path)', header = true, columns = {'id': 'BIGINT', 'name': 'VARCHAR', \
        'email': 'VARCHAR', 'age': 'INTEGER', 'balance': 'DOUBLE', 'created': 'TIMESTAMP', 'note': 'VARCHAR'})) \
        TO '\(unfinished.path)' (FORMAT parquet)
        """
      ])
    if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
    try FileManager.default.moveItem(at: unfinished, to: file)
  }

  private static let table = [
    """
    CREATE TABLE Person (id BIGINT PRIMARY KEY, name VARCHAR, email VARCHAR, age INTEGER, balance DOUBLE, \
    created TIMESTAMP, note VARCHAR)
    """,
    "CREATE INDEX Person_email ON Person (email)",
  ]

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

  /// - Parameter database: nil for none.
  private func run(_ database: URL?, _ commands: [String]) throws -> MeasuredRun {
    try MeasuredProgram(
      program,
      ["-batch", "-bail", "-list", "-noheader", database?.path ?? ":memory:"] + commands.flatMap { ["-c", $0] }
    ).run()
  }
}
