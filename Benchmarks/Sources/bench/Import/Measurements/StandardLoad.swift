import BenchSupport

/// The standard load against `sqlite3 .import` into the same table, with its primary key and an index, in WAL.
struct StandardLoad: Measurement {
  let name = "standard"
  let summary = "the standard load, against sqlite3 .import; peak memory"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    let load = try bench.load()
    let peer = bench.sqlite3.map { sqlite3 in
      Side(
        name: sqlite3.name, run: { try sqlite3.importPeople(into: $0, from: load.file) },
        contents: { try sqlite3.contents(of: $0) })
    }
    let standings = try bench.contest([bench.ours(load), peer])
    guard let ours = standings[0] else { return [] }
    let peak = BenchResult(
      "peak memory", ours: ours.peakMiB, peer: standings[1]?.peakMiB, unit: "MiB", goal: .oursAtMost(96))
    return [
      ImportFigure("standard load", rows: load.rows, ours, standings[1], peer: "sqlite3", atLeast: 2),
      ImportFigure(peak, peer: standings[1]?.name ?? "sqlite3, not installed"),
    ]
  }
}
