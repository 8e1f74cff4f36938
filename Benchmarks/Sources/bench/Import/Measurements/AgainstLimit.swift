/// The standard load against what can be reached at all: a loop in C that knows the file and does nothing else.
struct AgainstLimit: Measurement {
  let name = "limit"
  let summary = "the standard load, against a loop in C that binds the same rows"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    let load = try bench.load()
    let limit = Side(
      name: Limit.name, run: { try Limit.importPeople(into: $0, from: load.file) },
      contents: { try bench.sqlite3?.contents(of: $0) })
    let standings = try bench.contest([bench.ours(load), limit])
    guard let ours = standings[0] else { return [] }
    return [ImportFigure("of the limit", rows: load.rows, ours, standings[1], peer: Limit.name, atLeast: 0.8)]
  }
}
