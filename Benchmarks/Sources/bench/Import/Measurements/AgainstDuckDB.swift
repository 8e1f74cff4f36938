/// The standard load against DuckDB's `COPY` into a table with a primary key and an index.
struct AgainstDuckDB: Measurement {
  let name = "duckdb"
  let summary = "the standard load, against DuckDB's COPY into a table with key and index"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    let load = try bench.load()
    let peer = bench.duckDB.map { duckDB in
      Side(
        name: duckDB.name, run: { try duckDB.importPeople(into: $0, from: load.file) },
        contents: { try duckDB.contents(of: $0) })
    }
    let standings = try bench.contest([bench.ours(load), peer])
    guard let ours = standings[0] else { return [] }
    return [
      ImportFigure("against DuckDB's COPY", rows: load.rows, ours, standings[1], peer: "DuckDB", atLeast: 1.4)
    ]
  }
}
