import BenchSupport
import Foundation

/// The standard load against `sqlite-utils insert` into a table made before, which runs once: it takes a minute or more.
struct AgainstSQLiteUtils: Measurement {
  let name = "sqlite-utils-insert"
  let summary = "the standard load, against sqlite-utils insert (its side once)"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    let load = try bench.load()
    let standings = try bench.contest([
      bench.ours(load),
      bench.sqliteUtilsSide { utils, database in try utils.insert(into: database, from: load.file) },
    ])
    guard let ours = standings[0] else { return [] }
    return [
      ImportFigure(
        "against sqlite-utils insert", rows: load.rows, ours, standings[1], peer: "sqlite-utils", atLeast: 40)
    ]
  }
}

extension Workbench {
  /// sqlite-utils with an empty table, which `sqlite3` makes; nil if one of the two isn't installed. Runs once.
  func sqliteUtilsSide(_ run: @escaping (SQLiteUtils, _ database: URL) throws -> MeasuredRun) -> Side? {
    guard let utils = sqliteUtils, let sqlite3 else { return nil }
    return Side(
      name: utils.name, mostRuns: 1, prepare: { try sqlite3.makeTable(in: $0) }, run: { try run(utils, $0) },
      contents: { try sqlite3.contents(of: $0) })
  }
}
