import BenchSupport
import Foundation

/// SQLite's own shell, as a peer. It also inspects the content of a store, Lade's or its own.
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

  /// The peer's name in a table.
  var name: String { "sqlite3 \(version)" }

  private static let columns =
    "(id INTEGER PRIMARY KEY, name TEXT, email TEXT, age INTEGER, balance REAL, created TEXT, note TEXT)"

  /// Makes the table and WAL.
  private static func schema(hasIndex: Bool) -> [String] {
    ["PRAGMA journal_mode = WAL", "CREATE TABLE Person \(columns)"]
      + (hasIndex ? ["CREATE INDEX Person_email ON Person (email)"] : [])
  }

  /// Runs the shell's commands one after the other: one process.
  func run(_ database: URL, _ commands: [String]) throws -> MeasuredRun {
    try MeasuredProgram(program, ["-batch", "-bail", database.path] + commands).run()
  }

  /// Makes an empty table, for others to fill.
  func makeTable(in database: URL) throws { _ = try run(database, Self.schema(hasIndex: true)) }

  /// Makes the table, its index and WAL, and imports the file: one process, as a person would do it.
  @discardableResult
  func importPeople(into database: URL, from csv: URL, hasIndex: Bool = true) throws -> MeasuredRun {
    try run(database, Self.schema(hasIndex: hasIndex) + [".import --csv --skip 1 \"\(csv.path)\" Person"])
  }

  /// Imports the file into a temporary table, and then from it into the one that is there: new rows, and those that are
  /// there already with the file's values.
  func upsertPeople(into database: URL, from csv: URL) throws -> MeasuredRun {
    let changes = ["name", "email", "age", "balance", "created", "note"].map { "\($0) = excluded.\($0)" }
    return try run(
      database,
      [
        "CREATE TEMP TABLE incoming \(Self.columns)",
        ".import --csv --skip 1 --schema temp \"\(csv.path)\" incoming",
        """
        INSERT INTO Person SELECT * FROM incoming WHERE true \
        ON CONFLICT (id) DO UPDATE SET \(changes.joined(separator: ", "))
        """,
      ])
  }

  /// Makes the table, imports the lines into a temporary one, and takes their values out with `json_extract`.
  func importLines(into database: URL, from ndjson: URL) throws -> MeasuredRun {
    let values = ["id", "name", "email", "age", "balance", "created", "note"].map { "json_extract(line, '$.\($0)')" }
    return try run(
      database,
      Self.schema(hasIndex: true) + [
        "CREATE TEMP TABLE lines (line TEXT)",
        // A line has no control characters, so it is one column, whatever else is in it.
        ".mode ascii", ".separator \"\\037\" \"\\n\"",
        ".import \"\(ndjson.path)\" lines",
        "INSERT INTO Person SELECT \(values.joined(separator: ", ")) FROM lines",
      ])
  }

  // MARK: Looking

  /// Reads the whole table and its index, and checks the file.
  func contents(of database: URL) throws -> Contents {
    let output = try query(
      database,
      [
        "PRAGMA integrity_check",
        "SELECT count(*) FROM Person",
        """
        SELECT sum(id), sum(length(CAST(name AS BLOB))), sum(length(CAST(note AS BLOB))), sum(unicode(note)), \
        sum(age), printf('%.2f', total(balance)), count(created) FROM Person
        """,
        "SELECT count(DISTINCT email), min(email), max(email) FROM Person",
      ])
    let lines = output.split(separator: "\n").map(String.init)
    guard lines.count >= 4, let rows = Int(lines[lines.count - 3]) else {
      return Contents(rows: 0, sums: "", integrity: output)
    }
    return Contents(
      rows: rows, sums: lines.suffix(2).joined(separator: "|"), integrity: lines.dropLast(3).joined(separator: "; "))
  }

  /// Counts rows, reads tables as one query says, and checks the file.
  func contents(of database: URL, count: String, _ sums: String) throws -> Contents {
    let output = try query(database, ["PRAGMA integrity_check", count, sums])
    let lines = output.split(separator: "\n").map(String.init)
    guard lines.count >= 3, let rows = Int(lines[lines.count - 2]) else {
      return Contents(rows: 0, sums: "", integrity: output)
    }
    return Contents(rows: rows, sums: lines[lines.count - 1], integrity: lines.dropLast(2).joined(separator: "; "))
  }

  /// A query result that shows whether each person in Lade's store is in the right club.
  func clubs(of database: URL) throws -> String {
    try query(
      database,
      [
        """
        SELECT count(*), sum(Person.id * CAST(substr(Club.code, 2) AS INTEGER)) \
        FROM Person JOIN Club ON Club.id = Person.club_id
        """
      ])
  }

  /// What the same has to be, by the file.
  func clubs(in csv: URL) throws -> String {
    try MeasuredProgram(
      program,
      [
        "-batch", "-bail", ":memory:", ".import --csv \"\(csv.path)\" people",
        "SELECT count(*), sum(id * CAST(substr(club, 2) AS INTEGER)) FROM people",
      ]
    ).run().output
  }

  private func query(_ database: URL, _ commands: [String]) throws -> String {
    try MeasuredProgram(program, ["-batch", "-bail", "-readonly", database.path] + commands).run().output
  }
}
