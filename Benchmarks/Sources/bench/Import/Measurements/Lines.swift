/// The same rows as a JSON object a line, against `sqlite3` with `json_extract` over the lines.
struct Lines: Measurement {
  let name = "ndjson"
  let summary = "the same rows as NDJSON, against sqlite3's json_extract"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    let load = try bench.load(.ndjson)
    let peer = bench.sqlite3.map { sqlite3 in
      Side(
        name: sqlite3.name, run: { try sqlite3.importLines(into: $0, from: load.file) },
        contents: { try sqlite3.contents(of: $0) })
    }
    let standings = try bench.contest([bench.ours(load), peer])
    guard let ours = standings[0] else { return [] }
    return [ImportFigure("NDJSON", rows: load.rows, ours, standings[1], peer: "sqlite3", atLeast: 3)]
  }
}
