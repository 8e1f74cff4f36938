import Foundation
import TestSupport
import Testing

/// A sample of what `make faults-sqlite` runs: of each kind of call the first, the last and some between, each failing once and
/// for good. Two works at a time, one of each suite.
@Suite(
  "Calls of SQLite that fail leave stores whole, end a work by what may pass, and the next try as one run would",
  .timeLimit(.minutes(20)),
  // Its trials are processes that end in the middle of their work.
  .disabled(if: ProcessInfo.processInfo.environment["TSAN_OPTIONS"] != nil))
struct SQLiteFaultTests {
  @Suite("Imports", .serialized)
  struct Imports {
    static let works = [
      "import-insert", "import-upsert", "import-update", "import-replace", "import-synchronise", "import-whole-file",
      "import-without-indexes", "import-database", "import-feed",
    ]

    @Test("of every mode", arguments: works)
    func sample(_ work: String) async throws { try await FaultRun(of: work).check() }
  }

  @Suite("Queue and upkeep", .serialized)
  struct Upkeep {
    static let works = [
      "queue", "backup", "restore", "check", "vacuum", "vacuum-prepare-incremental", "reindex", "optimise",
      "checkpoint", "export", "migration-inferred", "migration-mapped", "migration-staged",
    ]

    @Test("of every kind", arguments: works)
    func sample(_ work: String) async throws { try await FaultRun(of: work).check() }
  }

  @Test("also where the length of a file can't be asked for that SQLite has just made")
  func lengths() async throws {
    let run = try await FaultRun(arguments: ["migration-staged", "--call", "fstat"])
    #expect(run.output.status == 0, "\(run.output.text)\(run.output.error)")
    #expect(run.output.text.contains("calls failed, 0 processes ended, 0 were wrong"), "\(run.output.text)")
  }

  @Test("all works have their sample")
  func all() async throws {
    let names = try await FaultRun(arguments: ["--list"]).output.text.split(separator: "\n").map(String.init)
    #expect(names == Imports.works + Upkeep.works)
  }
}

/// A run of `sqlitefaults`.
private struct FaultRun {
  let output: ProgramOutput

  init(of work: String) async throws { try await self.init(arguments: [work, "--sample", "4", "--memory", "12"]) }

  init(arguments: [String]) async throws {
    output = try await ProgramOutput.of(
      BuiltPrograms.folder.appendingPathComponent("sqlitefaults"), arguments,
      environment: ProcessInfo.processInfo.environment)
  }

  func check() throws {
    #expect(output.status == 0, "\(output.text)\(output.error)")
    // Calls did fail.
    let trials = try #require(output.text.firstMatch(of: /; ([0-9]+) trials, ([0-9]+) calls failed/))
    #expect(try #require(Int(trials.1)) > 50 && #require(Int(trials.2)) > 50, "\(output.text)")
  }
}
