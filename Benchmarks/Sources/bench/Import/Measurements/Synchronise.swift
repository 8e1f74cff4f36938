/// Synchronising an empty table with a file, against `sqlite3` by a temporary table, `ON CONFLICT` and a `DELETE`, and against
/// ours by upsert.
struct Synchronise: Measurement {
  let name = "synchronise"
  let summary = "an empty table synchronised, against sqlite3's ON CONFLICT and DELETE, and ours by upsert"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    let load = try bench.load(.readings)
    let standings = try bench.contest([
      bench.oursKeyed(load, .number, mode: "synchronise"), bench.sqlite3?.synchronisingSide(load.file, .number),
      bench.oursKeyed(load, .number, name: "ours, by upsert"),
    ])
    guard let ours = standings[0] else { return [] }
    return [
      ImportFigure("synchronise an empty table", rows: load.rows, ours, standings[1], peer: "sqlite3", atLeast: 2),
      ImportFigure(
        "the same, against upsert", rows: load.rows, ours, standings[2], peer: "ours, by upsert", atLeast: 0.5),
    ]
  }
}
