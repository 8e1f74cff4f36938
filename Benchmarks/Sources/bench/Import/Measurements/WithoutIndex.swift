/// The standard load into a table that has its primary key and no other index.
struct WithoutIndex: Measurement {
  let name = "without-index"
  let summary = "the same without the index on email, against sqlite3 .import and the loop in C"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    let load = try bench.load()
    let peer = bench.sqlite3.map { sqlite3 in
      Side(
        name: sqlite3.name, run: { try sqlite3.importPeople(into: $0, from: load.file, hasIndex: false) },
        contents: { try sqlite3.contents(of: $0) })
    }
    let limit = Side(
      name: Limit.name, run: { try Limit.importPeople(into: $0, from: load.file, hasIndex: false) },
      contents: { try bench.sqlite3?.contents(of: $0) })
    let standings = try bench.contest([bench.ours(load, .withoutIndex), peer, limit])
    guard let ours = standings[0] else { return [] }
    return [
      ImportFigure("without the index", rows: load.rows, ours, standings[1], peer: "sqlite3", atLeast: 3),
      ImportFigure("the same, of the limit", rows: load.rows, ours, standings[2], peer: Limit.name, atLeast: 0.8),
    ]
  }
}
