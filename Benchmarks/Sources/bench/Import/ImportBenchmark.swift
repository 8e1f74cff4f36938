import ArgumentParser
import BenchSupport
import Foundation

/// Ours and its peers take turns at the same files on the same machine; medians count. Each runs as a process of its
/// own and is measured from its start to its end. After each run the store is read again: figures for wrong contents
/// are never printed.
struct ImportBenchmark: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Imports the standard load, against sqlite3, DuckDB, sqlite-utils and the limit.",
    discussion: """
      Writes results/import.json if it measured everything with the standard 1,000,000 rows, and ends with another \
      status than 0 if what came in isn't what the file holds. A goal that isn't met doesn't change the status.

      What is measured, by the names for --only:

      \(importMeasurements.map { "  \($0.name): \($0.summary)" }.joined(separator: "\n"))
      """)

  /// The size that the goals are for.
  static let standardRows = 1_000_000

  @Option(help: "The folder of the benchmarks' package.")
  var benchmarks = "Benchmarks"

  @Option(help: "How many rows; with another number than the standard one nothing is written to results/.")
  var rows = standardRows

  @Option(help: "How many runs of each; sqlite-utils and 10,000,000 rows have one.")
  var runs = 3

  @Option(help: "Measure this alone, of the list above; may be given more than once. Nothing is written to results/.")
  var only: [String] = []

  @Flag(inversion: .prefixedNo, help: "Import 10,000,000 rows too, for memory and speed (a gigabyte of CSV).")
  var tenMillion = true

  func validate() throws {
    guard rows > 0, runs > 0 else { throw ValidationError("--rows and --runs are at least 1.") }
    let generator = URL(filePath: benchmarks).appending(path: "standard-load.awk")
    guard FileManager.default.fileExists(atPath: generator.path) else {
      throw ValidationError("\(generator.path) isn't there: run from the repository's top, or say --benchmarks.")
    }
    let names = importMeasurements.map(\.name)
    if let unknown = only.first(where: { !names.contains($0) }) {
      throw ValidationError("Nothing is called \(unknown). There are: \(names.joined(separator: ", ")).")
    }
  }

  func run() throws {
    let folder = URL(filePath: benchmarks)
    let bench = try Workbench(folder: folder, rows: rows, runs: runs)
    try bench.tidy()
    var figures: [ImportFigure] = []
    for measurement in importMeasurements where isWanted(measurement) {
      say("\(measurement.name): \(measurement.summary)")
      figures += try measurement.measure(on: bench)
    }
    try bench.tidy()
    say("\n\(figure(Double(rows))) rows, medians of \(runs) but of those that are said to run once\n")
    say(figures.table)
    if rows == Self.standardRows, only.isEmpty {
      let file = folder.appending(path: "results/import.json")
      try writeResults(figures, to: file)
      say("\nwritten: \(file.relativePath)")
    }
  }

  private func isWanted(_ measurement: any Measurement) -> Bool {
    guard only.isEmpty else { return only.contains(measurement.name) }
    return tenMillion || !(measurement is TenMillion)
  }
}
