import BenchSupport
import Foundation

/// The same rows as an Excel workbook, against openpyxl, which runs once: it takes a minute or more.
struct Excel: Measurement {
  let name = "excel"
  let summary = "the same rows as an Excel workbook, against openpyxl in read-only mode (its side once)"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    guard let openpyxl = bench.openpyxl else {
      say("openpyxl isn't installed (`make bench-peers` installs it): left out, since it also makes the workbook.")
      return []
    }
    var load = try bench.load()
    let workbook = load.file.deletingPathExtension().appendingPathExtension("xlsx")
    if !FileManager.default.fileExists(atPath: workbook.path) {
      say("making \(workbook.relativePath)")
      try openpyxl.write(load.file, to: workbook)
    }
    load.file = workbook
    let standings = try bench.contest([
      bench.ours(load),
      bench.sqlite3.map { sqlite3 in
        Side(
          name: openpyxl.name, mostRuns: 1, prepare: { try sqlite3.makeTable(in: $0) },
          run: { try openpyxl.load(workbook, into: $0) }, contents: { try sqlite3.contents(of: $0) })
      },
    ])
    guard let ours = standings[0] else { return [] }
    return [ImportFigure("Excel workbook", rows: load.rows, ours, standings[1], peer: "openpyxl", atLeast: 5)]
  }
}
