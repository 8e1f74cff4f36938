import ControlAPI
import Foundation
import TestSupport
import Testing

/// A file of members, and what the import of it leaves in a store of its own when nothing disturbs it.
struct Undisturbed: Sendable {
  /// For the tests that disturb a process in the middle of an import.
  static let long = Task { try await Undisturbed(Members(rows: 30_000, faults: 60)) }
  /// For those in which each step takes long, or there are many imports.
  static let short = Task { try await Undisturbed(Members(rows: 1_500, faults: 30)) }

  /// The recipe `members`, by batches that make the import long enough to be disturbed.
  static let recipes = recipe("batch_size: 100")

  static func recipe(_ more: String) -> String {
    "  members: { store: main, entity: Member, mode: upsert, reject_limit: none, \(more) }\n"
  }

  let csv: Data
  private let rows: String
  private let rejects: Data
  private let progress: JobProgress

  private init(_ members: Members) async throws {
    csv = members.csv
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    let daemon = try await folder.start()
    let job = try await folder.imported(csv, as: "members.csv", into: "members")
    (rows, rejects, progress) = (
      try await folder.sqlite(KilledImport.members), try Self.rejects(of: job, at: folder.file), job.progress
    )
    try await daemon.stop()
  }

  /// Expects exactly the same rows and rejects of an import that was disturbed.
  /// - Parameter file: where a file of the folder is; in the folder, unless parts of that are mounted for the daemon alone.
  func expect(
    of job: Job, in folder: DaemonFolder, store: String = "main.sqlite", file: ((String) -> String)? = nil,
    _ sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    #expect(job.state == .completed, "\(job.reason ?? "")", sourceLocation: sourceLocation)
    #expect(job.progress == progress, sourceLocation: sourceLocation)
    // Not in an expectation as they are: it would print them.
    let areRowsEqual = try await folder.sqlite(KilledImport.members, in: store) == rows
    #expect(areRowsEqual, "the rows differ", sourceLocation: sourceLocation)
    let areRejectsEqual = try Self.rejects(of: job, at: file ?? folder.file) == rejects
    #expect(areRejectsEqual, "the rejects differ", sourceLocation: sourceLocation)
    let check = try await folder.sqlite("PRAGMA integrity_check", in: store)
    #expect(check == "'ok'", sourceLocation: sourceLocation)
  }

  private static func rejects(of job: Job, at file: (String) -> String) throws -> Data {
    let folder = file("state/rejects")
    guard
      let name = try FileManager.default.contentsOfDirectory(atPath: folder).first(where: { $0.hasPrefix("\(job.id).") }
      )
    else { throw ProgramFailure(program: "laded", arguments: [], what: "left no reject file", error: folder) }
    return try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
  }
}
