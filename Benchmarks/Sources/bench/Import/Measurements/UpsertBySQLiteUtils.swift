/// All rows are there and one in a hundred is changed, against `sqlite-utils upsert`, which runs once.
struct UpsertBySQLiteUtils: Measurement {
  let name = "sqlite-utils-upsert"
  let summary = "all rows there and 1 % changed, against sqlite-utils upsert (its side once)"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    let load = try bench.load()
    let changed = try bench.load(.changed)
    var peer = bench.sqliteUtilsSide { utils, database in try utils.upsert(into: database, from: changed.file) }
    peer?.prepare = { try bench.sqlite3?.importPeople(into: $0, from: load.file) }
    let standings = try bench.contest([bench.oursUpserting(changed, into: load), peer])
    guard let ours = standings[0] else { return [] }
    return [
      ImportFigure(
        "against sqlite-utils upsert", rows: load.rows, ours, standings[1], peer: "sqlite-utils", atLeast: 30)
    ]
  }
}
