/// Replacing all rows by those of a file of which one in a hundred differs, against `sqlite3` by a `DELETE` and an `INSERT` in
/// one transaction.
struct Replace: Measurement {
  let name = "replace"
  let summary = "all rows replaced, 1 % of them changed, against sqlite3's DELETE and INSERT in one transaction"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    let load = try bench.load(.readings)
    let changed = try bench.load(.changedReadings)
    let updated = changed.rows / LoadFile.changedEach
    let key = ReadingKey.number
    var side = bench.oursKeyed(changed, key)
    side.prepare = {
      try Ours(model: .readings, entity: key.entity, mode: "upsert").run(
        $0, from: load.file, expecting: [load.rows, 0, 0])
    }
    side.run = {
      try Ours(model: .readings, entity: key.entity, mode: "replace").run(
        $0, from: changed.file, expecting: [0, updated, changed.rows - updated])
    }
    let standings = try bench.contest([side, bench.sqlite3?.replacingSide(changed.file, of: load.file, key)])
    guard let ours = standings[0] else { return [] }
    return [ImportFigure("replace, 1 % changed", rows: load.rows, ours, standings[1], peer: "sqlite3", atLeast: 2)]
  }
}
