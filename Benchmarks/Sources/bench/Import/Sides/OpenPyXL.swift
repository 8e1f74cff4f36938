import BenchSupport
import Foundation

/// openpyxl in read-only mode, which reads row by row, into a table that is there.
struct OpenPyXL {
  let version: String
  private let python: String
  private let script: String

  /// The one that `make bench-peers` has installed; nil if there is none.
  init?(peers: URL, script: URL) throws {
    let python = peers.appending(path: "bin/python3").path
    guard FileManager.default.isExecutableFile(atPath: python) else { return nil }
    let asked = try? MeasuredProgram(
      python, ["-c", "import xlsxwriter, openpyxl; print(openpyxl.__version__)"]
    ).run()
    guard let asked else { return nil }
    version = asked.output.trimmingCharacters(in: .whitespacesAndNewlines)
    self.python = python
    self.script = script.path
  }

  /// The peer's name in a table.
  var name: String { "openpyxl \(version)" }

  /// Makes a workbook of people in CSV.
  func write(_ csv: URL, to workbook: URL) throws {
    let unfinished = workbook.appendingPathExtension("part")
    _ = try MeasuredProgram(python, [script, "write", csv.path, unfinished.path]).run()
    if FileManager.default.fileExists(atPath: workbook.path) { try FileManager.default.removeItem(at: workbook) }
    try FileManager.default.moveItem(at: unfinished, to: workbook)
  }

  /// Reads a workbook into the table.
  func load(_ workbook: URL, into database: URL) throws -> MeasuredRun {
    try MeasuredProgram(python, [script, "load", workbook.path, database.path]).run()
  }
}
