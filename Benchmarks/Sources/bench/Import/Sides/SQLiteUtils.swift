import BenchSupport
import Foundation

/// sqlite-utils, a program in Python, into a table that is there: with types, WAL and the index.
///
/// Type detection is off because the table has types: with it a run takes three times as long.
struct SQLiteUtils {
  var version: String
  private var program: String

  /// The one that `make bench-peers` has installed, or one in `PATH`; nil if there is none.
  init?(peers: URL) throws {
    let installed = peers.appending(path: "bin/sqlite-utils")
    let isInstalled = FileManager.default.isExecutableFile(atPath: installed.path)
    guard let found = isInstalled ? installed : programInPath("sqlite-utils") else { return nil }
    program = found.path
    version =
      try MeasuredProgram(program, ["--version"]).run().output.split(separator: " ").last
      .map { $0.trimmingCharacters(in: .newlines) } ?? ""
  }

  /// The peer's name in a table.
  var name: String { "sqlite-utils \(version)" }

  /// `insert`, of CSV.
  func insert(into database: URL, from csv: URL) throws -> MeasuredRun {
    try run(["insert", database.path, "Person", csv.path, "--csv", "--no-detect-types"])
  }

  /// `upsert`, of CSV.
  func upsert(into database: URL, from csv: URL) throws -> MeasuredRun {
    try run(["upsert", database.path, "Person", csv.path, "--csv", "--no-detect-types"])
  }

  /// `insert`, of a JSON object a line.
  func insertLines(into database: URL, from ndjson: URL) throws -> MeasuredRun {
    try run(["insert", database.path, "Person", ndjson.path, "--nl"])
  }

  private func run(_ arguments: [String]) throws -> MeasuredRun {
    try MeasuredProgram(program, arguments + ["--pk", "id", "--silent"]).run()
  }
}
