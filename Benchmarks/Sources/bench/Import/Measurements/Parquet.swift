import BenchSupport
import Foundation

/// The same rows as a Parquet file, against DuckDB's `INSERT … SELECT` into a table with a primary key and an index.
struct Parquet: Measurement {
  let name = "parquet"
  let summary = "the same rows as a Parquet file, against DuckDB's INSERT … SELECT into a table with key and index"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    guard let duckDB = bench.duckDB else {
      say("DuckDB isn't installed (`make bench-peers` installs it): left out, since it also makes the Parquet file.")
      return []
    }
    var load = try bench.load()
    let file = load.file.deletingPathExtension().appendingPathExtension("parquet")
    if !FileManager.default.fileExists(atPath: file.path) {
      say("making \(file.relativePath)")
      try duckDB.writeParquet(load.file, to: file)
    }
    load.file = file
    let standings = try bench.contest([
      bench.ours(load),
      Side(
        name: duckDB.name, run: { try duckDB.importPeople(into: $0, fromParquet: file) },
        contents: { try duckDB.contents(of: $0) }),
    ])
    guard let ours = standings[0] else { return [] }
    return [ImportFigure("Parquet file", rows: load.rows, ours, standings[1], peer: "DuckDB", atLeast: 1.5)]
  }
}
