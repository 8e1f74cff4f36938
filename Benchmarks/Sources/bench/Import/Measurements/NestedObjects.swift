import BenchSupport
import Foundation

/// JSON objects with five objects in each, which become rows of two tables; against `sqlite3` with `json_each` over the lines,
/// and against ours with flat rows found by a whole number. What counts is objects.
struct NestedObjects: Measurement {
  let name = "nested"
  let summary = "NDJSON with five objects in each, against sqlite3's json_each and ours with flat rows; objects"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    // About as many objects as other measurements have rows.
    let load = try bench.load(.parents, rows: max(1, bench.rows / (1 + LoadFile.parts)))
    let flat = try bench.load(.readings)
    let side = Side(
      name: "ours",
      run: {
        try Ours(model: .parents, entity: "Parent", mode: "upsert").run(
          $0, from: load.file, expecting: [load.rows, 0, 0])
      }, contents: { try bench.sqlite3?.parents(of: $0, column: "parent_id", key: "id") })
    let standings = try bench.contest([side, bench.sqlite3?.nestedSide(load.file)], rows: load.rows)
    let plain = try bench.contest([bench.oursKeyed(flat, .number, name: "ours, flat")])
    guard let ours = standings[0] else { return [] }
    let objects = load.rows * (1 + LoadFile.parts)
    let figure = ImportFigure("nested JSON, in objects", rows: objects, ours, standings[1], peer: "sqlite3", atLeast: 2)
    guard let plain = plain[0] else { return [figure] }
    var against = figure
    against.result = BenchResult(
      "the same, against flat rows", ours: ours.rate(objects), peer: plain.rate(flat.rows), unit: "objects/s",
      goal: .ratioAtLeast(0.5))
    (against.peer, against.peerPeakMiB) = (plain.name, plain.peakMiB)
    return [figure, against]
  }
}

extension SQLite3 {
  /// Imports the lines into a temporary table, and takes both tables' rows out of them.
  func nestedSide(_ ndjson: URL) -> Side {
    Side(
      name: name,
      run: {
        try run(
          $0,
          [
            "PRAGMA journal_mode = WAL", "CREATE TABLE Parent (number INTEGER UNIQUE, name TEXT)",
            "CREATE TABLE Part (code TEXT UNIQUE, size INTEGER, parent INTEGER)",
            "CREATE INDEX Part_parent ON Part (parent)", "CREATE TEMP TABLE lines (line TEXT)",
            ".mode ascii", ".separator \"\\037\" \"\\n\"", ".import \"\(ndjson.path)\" lines", "BEGIN",
            """
            INSERT INTO Parent SELECT json_extract(line, '$.number'), json_extract(line, '$.name') FROM lines WHERE true \
            ON CONFLICT (number) DO UPDATE SET name = excluded.name
            """,
            """
            INSERT INTO Part SELECT json_extract(part.value, '$.code'), json_extract(part.value, '$.size'), \
            json_extract(line, '$.number') FROM lines, json_each(line, '$.parts') part WHERE true \
            ON CONFLICT (code) DO UPDATE SET size = excluded.size, parent = excluded.parent
            """, "COMMIT",
          ])
      }, contents: { try parents(of: $0, column: "parent", key: "number") })
  }

  /// Reads both tables and checks the file.
  func parents(of database: URL, column: String, key: String) throws -> Contents {
    try contents(
      of: database,
      count: "SELECT count(*) FROM Parent",
      """
      SELECT count(*), sum(size), min(code), max(code), sum(Parent.number), count(DISTINCT Parent.name) \
      FROM Part JOIN Parent ON Parent.\(key) = Part.\(column)
      """)
  }
}
