/// The standard load with an email whose first digits are random: an index that is kept up is hit all over.
struct RandomEmail: Measurement {
  let name = "random-email"
  let summary = "the standard load with email in random order, against sqlite3 .import"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    let load = try bench.load(.randomEmail)
    let peer = bench.sqlite3.map { sqlite3 in
      Side(
        name: sqlite3.name, run: { try sqlite3.importPeople(into: $0, from: load.file) },
        contents: { try sqlite3.contents(of: $0) })
    }
    let standings = try bench.contest([bench.ours(load), peer])
    guard let ours = standings[0] else { return [] }
    return [
      ImportFigure("email in random order", rows: load.rows, ours, standings[1], peer: "sqlite3", atLeast: 4)
    ]
  }
}
