import ControlAPI
import Foundation
import Testing

/// What the tests of the spool ask.
extension DaemonFolder {
  /// A folder whose daemon has a hot folder, and looks again soon after a failure.
  static func withMembers(_ more: String = "intake: { settle: 100ms }") throws -> DaemonFolder {
    try DaemonFolder(
      model: Members.model, recipes: "  members: { store: main, entity: Member, mode: insert }", more: more)
  }

  /// The only job of a file, when it has ended.
  func job(of source: String) async throws -> Job {
    var jobs: [Job] = []
    while jobs.isEmpty { jobs = try await listedJobs().filter { $0.source == source } }
    #expect(jobs.count == 1, "\(source)")
    return try await ended(try #require(jobs.first).id)
  }

  /// Waits for these words in the log, has the spool scanned several times, and expects one line with them.
  func expectToldOnce(_ words: String, by daemon: DaemonProcess) async throws {
    while try !daemon.log.contains(words) { try #require(try await ladectl("status").status == 0) }
    for _ in 1...3 { try await scanned() }
    let log = try daemon.log
    #expect(log.split(separator: "\n").count { $0.contains(words) } == 1, "\(log)")
  }
}
