/// The same rows as a JSON object a line, against `sqlite-utils insert --nl`, which runs once.
struct LinesBySQLiteUtils: Measurement {
  let name = "sqlite-utils-ndjson"
  let summary = "the same rows as NDJSON, against sqlite-utils insert --nl (its side once)"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    let load = try bench.load(.ndjson)
    let standings = try bench.contest([
      bench.ours(load),
      bench.sqliteUtilsSide { utils, database in try utils.insertLines(into: database, from: load.file) },
    ])
    guard let ours = standings[0] else { return [] }
    return [
      ImportFigure(
        "NDJSON against sqlite-utils", rows: load.rows, ours, standings[1], peer: "sqlite-utils", atLeast: 40)
    ]
  }
}
