import Foundation
import TestSupport
import Testing

/// A sample of what `make faults-sqlite` runs: of each kind of call the first, the last and some between, each failing once and
/// for good.
@Suite(
  "Calls of SQLite that fail", .timeLimit(.minutes(20)),
  // Its trials are processes that end in the middle of their work.
  .disabled(if: ProcessInfo.processInfo.environment["TSAN_OPTIONS"] != nil))
struct SQLiteFaultTests {
  private static let program = BuiltPrograms.folder.appendingPathComponent("sqlitefaults")

  static let works = [
    "import-insert", "import-upsert", "import-update", "import-replace", "import-synchronise", "import-whole-file",
    "import-without-indexes", "import-database", "import-feed", "queue", "backup", "restore", "check", "vacuum",
    "vacuum-prepare-incremental", "reindex", "optimise", "checkpoint", "export", "migration-inferred",
    "migration-mapped", "migration-staged",
  ]

  @Test("leave the store whole, end the work by what may pass, and the next try as one run would", arguments: works)
  func sample(_ work: String) async throws {
    let run = try await Self.run([work, "--sample", "4", "--memory", "12"])
    #expect(run.status == 0, "\(run.text)\(run.error)")
    // Calls did fail.
    let trials = try #require(run.text.firstMatch(of: /; ([0-9]+) trials, ([0-9]+) with a failed call/))
    #expect(try #require(Int(trials.1)) > 50 && #require(Int(trials.2)) > 50, "\(run.text)")
  }

  @Test("are tried in all works")
  func all() async throws {
    #expect(try await Self.run(["--list"]).text.split(separator: "\n").map(String.init) == Self.works)
  }

  private static func run(_ arguments: [String]) async throws -> ProgramOutput {
    try await ProgramOutput.of(program, arguments, environment: ProcessInfo.processInfo.environment)
  }
}
