/// All rows are there and one in a hundred is changed, against `sqlite3` by a temporary table and `ON CONFLICT`.
struct Upsert: Measurement {
  let name = "upsert"
  let summary = "all rows there and 1 % changed, against sqlite3's temporary table and ON CONFLICT"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    let load = try bench.load()
    let changed = try bench.load(.changed)
    let peer = bench.sqlite3.map { sqlite3 in
      Side(
        name: sqlite3.name, prepare: { try sqlite3.importPeople(into: $0, from: load.file) },
        run: { try sqlite3.upsertPeople(into: $0, from: changed.file) },
        contents: { try sqlite3.contents(of: $0) })
    }
    let standings = try bench.contest([bench.oursUpserting(changed, into: load), peer])
    guard let ours = standings[0] else { return [] }
    return [ImportFigure("upsert, 1 % changed", rows: load.rows, ours, standings[1], peer: "sqlite3", atLeast: 2)]
  }
}
