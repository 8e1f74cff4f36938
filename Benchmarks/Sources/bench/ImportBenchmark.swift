import ArgumentParser
import BenchSupport
import Foundation
import Glibc

/// Ours and `sqlite3 .import` take turns at the same file on the same machine; medians count. Each runs as a
/// process of its own and is measured from its start to its end, making the store included. After each run
/// the store is read again: figures for wrong contents are never printed.
struct ImportBenchmark: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Imports the standard load, against `sqlite3 .import` in WAL into the same table.",
    discussion: """
      Writes results/import.json if it measured the standard 1,000,000 rows, and ends with another status \
      than 0 if what came in isn't what the file holds. A goal that isn't met doesn't change the status.
      """)

  /// The size that the goals are for.
  static let standardRows = 1_000_000

  @Option(help: "The folder of the benchmarks' package.")
  var benchmarks = "Benchmarks"

  @Option(help: "How many rows; with another number than the standard one nothing is written to results/.")
  var rows = standardRows

  @Option(help: "How many runs of each.")
  var runs = 3

  @Flag(inversion: .prefixedNo, help: "Import 10,000,000 rows too, for the peak memory (a gigabyte of CSV).")
  var tenMillion = true

  func validate() throws {
    guard rows > 0, runs > 0 else { throw ValidationError("--rows and --runs are at least 1.") }
    guard FileManager.default.fileExists(atPath: generator.path) else {
      throw ValidationError("\(generator.path) isn't there: run from the repository's top, or say --benchmarks.")
    }
  }

  func run() throws {
    let peer = try SQLite3()
    if peer == nil {
      say("sqlite3 isn't installed (`make deps` installs it): ours only, and what came in is counted by ours only.")
    }
    let load = try StandardLoad(rows: rows, generator: generator, folder: folder("results/load"))
    var ours: [MeasuredRun] = []
    var theirs: [MeasuredRun] = []
    var contents: [SQLite3.Contents] = []
    for round in 0..<runs {
      // Each is the first of a round in turn.
      for side in round.isMultiple(of: 2) ? [Side.peer, .ours] : [.ours, .peer] {
        switch side {
        case .ours: ours.append(try importOurs(load, checkedBy: peer, &contents))
        case .peer: if let peer { theirs.append(try importPeers(load, peer, &contents)) }
        }
      }
    }
    if let first = contents.first, let other = contents.first(where: { $0 != first }) {
      throw WrongContents(who: "One of the two", expected: "\(first)", found: "\(other)")
    }

    let peakMiB = ours.map(\.peakMiB).median ?? 0
    var results = [
      BenchResult(
        "standard load", ours: rate(ours) ?? 0, peer: rate(theirs), unit: "rows/s", goal: .ratioAtLeast(1)),
      BenchResult(
        "peak memory", ours: peakMiB, peer: theirs.map(\.peakMiB).median, unit: "MiB", goal: .oursAtMost(96)),
    ]
    if tenMillion {
      let large = try StandardLoad(rows: 10_000_000, generator: generator, folder: folder("results/load"))
      // Here the peer is ours with the smaller file: the ratio says how memory grows with the input.
      let measurement = try importOurs(large, checkedBy: peer, &contents)
      results.append(
        BenchResult(
          "peak memory at 10,000,000 rows", ours: measurement.peakMiB, peer: peakMiB, unit: "MiB",
          goal: .ratioAtMost(1.1)))
    }

    say("\n\(figure(Double(rows))) rows, medians of \(runs); the last line's peer is ours with fewer rows\n")
    say(results.table(peer: peer.map { "sqlite3 \($0.version)" } ?? "peer"))
    if rows == Self.standardRows {
      let file = folder("results").appending(path: "import.json")
      try results.write(to: file)
      say("\nwritten: \(file.relativePath)")
    }
  }

  private enum Side { case ours, peer }

  private var generator: URL { folder("").appending(path: "standard-load.awk") }

  private func folder(_ path: String) -> URL { URL(filePath: benchmarks).appending(path: path) }

  private func rate(_ measurements: [MeasuredRun]) -> Double? {
    measurements.map(\.seconds).median.map { Double(rows) / $0 }
  }

  /// What `lade-import` prints.
  private struct Report: Decodable {
    var rows: Int
    var seconds: Double
  }

  private func importOurs(
    _ load: StandardLoad, checkedBy peer: SQLite3?, _ contents: inout [SQLite3.Contents]
  ) throws -> MeasuredRun {
    try withDatabase("ours") { database in
      let measurement = try MeasuredProgram(
        programBeside("lade-import").path, ["--database", database.path, "--csv", load.file.path]
      ).run()
      let report = try JSONDecoder().decode(Report.self, from: Data(measurement.output.utf8))
      say(
        """
        ours: \(figure(Double(load.rows) / measurement.seconds)) rows/s, \(figure(measurement.peakMiB)) MiB, \
        of \(String(format: "%.2f", measurement.seconds)) s \(String(format: "%.2f", report.seconds)) s importing
        """)
      guard report.rows == load.rows else {
        throw WrongContents(who: "lade-import", expected: "\(load.rows) rows", found: "\(report.rows)")
      }
      if let peer { contents.append(try checked(peer.contents(of: database), of: load, who: "lade-import")) }
      return measurement
    }
  }

  private func importPeers(
    _ load: StandardLoad, _ peer: SQLite3, _ contents: inout [SQLite3.Contents]
  ) throws -> MeasuredRun {
    try withDatabase("peer") { database in
      let measurement = try peer.importPeople(into: database, from: load.file)
      say("peer: \(figure(Double(load.rows) / measurement.seconds)) rows/s, \(figure(measurement.peakMiB)) MiB")
      contents.append(try checked(peer.contents(of: database), of: load, who: "sqlite3"))
      return measurement
    }
  }

  private func checked(
    _ contents: SQLite3.Contents, of load: StandardLoad, who: String
  ) throws -> SQLite3.Contents {
    guard contents.rows == load.rows, contents.integrity == "ok" else {
      throw WrongContents(who: who, expected: "\(load.rows) rows, integrity ok", found: "\(contents)")
    }
    return contents
  }

  /// An empty folder for one database, on the same file system as the results; gone afterwards, or at the
  /// next run if this one is interrupted. Before the work starts, what earlier work left to write is written.
  private func withDatabase<Value>(_ name: String, _ work: (URL) throws -> Value) throws -> Value {
    let folder = folder("results/work").appending(path: name)
    if FileManager.default.fileExists(atPath: folder.path) { try FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    sync()
    let outcome = Swift.Result { try work(folder.appending(path: "people.sqlite")) }
    try FileManager.default.removeItem(at: folder)
    return try outcome.get()
  }
}

/// Something other came in than the file holds: a benchmark of that would mean nothing.
struct WrongContents: Error, CustomStringConvertible {
  var who: String
  var expected: String
  var found: String

  var description: String { "\(who) imported something else than the file holds: \(expected) expected, \(found) found" }
}
