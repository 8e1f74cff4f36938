import ControlAPI
import Foundation
import TestSupport
import Testing

/// A daemon that runs, with members in its store.
struct MembersHouse {
  static let rows = 3_000

  let folder: DaemonFolder
  let daemon: DaemonProcess

  init() async throws {
    folder = try DaemonFolder(model: Members.model, recipes: "  members: { store: main, entity: Member }")
    daemon = try await folder.start()
    let job = try await folder.imported(Members(rows: Self.rows).csv, as: "members.csv", into: "members")
    try #require(job.state == .completed && job.progress.inserted == Int64(Self.rows), "\(job.reason ?? "")")
  }

  /// Runs a verb that makes one job, and waits for the job; the status must go with how it ended.
  func done(_ arguments: String...) async throws -> Job {
    let run = try await folder.ladectl(arguments + ["--wait", "--json"])
    guard [0, 2, 3].contains(run.status) else {
      throw ProgramFailure(program: "ladectl", arguments: arguments, what: "status \(run.status)", error: run.error)
    }
    let jobs = try WireFormat.decode(JobList.self, from: run.output).jobs
    let job = try #require(jobs.count == 1 ? jobs.first : nil)
    #expect(job.state == (run.status == 3 ? .discarded : .completed))
    return job
  }

  /// The number that a query of the store gives.
  func number(_ query: String) async throws -> Int {
    let text = try await folder.sqlite(query)
    return try #require(Int(text), "\(text)")
  }

  /// The bytes of a file.
  func size(_ file: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: folder.file(file))[.size] as? Int)
  }

  /// Gives members another attribute, in the model's file.
  func addMail() throws {
    try Members.model(with: .attribute("mail", optional: true)).write(to: folder.file("Model.xcdatamodeld"))
  }
}
