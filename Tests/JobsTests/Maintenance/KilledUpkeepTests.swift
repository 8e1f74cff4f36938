import Foundation
import GRDB
import Glibc
import ManagedObjects
import Synchronization
import Testing

@testable import Jobs

@Suite("Upkeep that is killed", .timeLimit(.minutes(20)))
struct KilledUpkeepTests {
  struct Work: Sendable, Codable, CustomTestStringConvertible {
    let kind: String
    let options: String
    var testDescription: String { kind }

    /// Runs it in a house that stands already, and ends the process when it reports for the `point`th time; at 0, when it
    /// has done all and the queue hasn't heard of it.
    func die(in folder: String, at point: Int) async throws {
      let house = try UpkeepHouse(at: URL(fileURLWithPath: folder))
      let count = Atomic(0)
      let queue = try await house.queue(
        hearing: kind,
        { _ in
          if count.add(1, ordering: .relaxed).newValue == point { kill(getpid(), SIGKILL) }
        }, done: { if point == 0 { kill(getpid(), SIGKILL) } })
      _ = try await queue.run(.upkeep(kind, options))
    }
  }

  static let works = [
    Work(kind: "backup", options: #"{"compress": "zstd"}"#), Work(kind: "restore", options: #"{"backup": "latest"}"#),
    Work(kind: "vacuum", options: "{}"), Work(kind: "reindex", options: "{}"), Work(kind: "check", options: "{}"),
  ]

  @Test("goes through when the daemon starts again, and leaves the store whole and no rests", arguments: works)
  func killed(_ work: Work) async throws {
    let house = try UpkeepHouse()
    let reports = Atomic(0)
    do {
      let queue = try await house.queue(hearing: work.kind) { _ in reports.add(1, ordering: .relaxed) }
      try await house.fill(queue, 3_000)
      #expect(try await queue.run(.upkeep("backup")).state == .completed)
      // Of this run alone.
      reports.store(0, ordering: .relaxed)
      let first = try await queue.run(.upkeep(work.kind, work.options))
      #expect(first.state == .completed, "\(first.reason ?? "")")
      await queue.drain(timeout: .seconds(10))
    }
    let count = reports.load(ordering: .relaxed)
    #expect(count > 0)
    // The number of reports varies with what else the machine does.
    for point in Set([0, 1, count / 3, 2 * count / 3]).sorted() {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [work, path = house.folder.path as String, point = point as Int] in
        try await work.die(in: path, at: point)
      }
      let queue = try await house.queue()
      let job = try #require(try await queue.jobs(JobFilter(kind: work.kind)).first)
      let end = try await queue.whenEnded(job.id)
      #expect(end.state == .completed && end.rescues == 1, "\(point): \(end.reason ?? "")")
      await queue.drain(timeout: .seconds(10))
      #expect(try house.count() == 3_000)
      let names = try house.names(in: "backups") + house.names(in: "reports")
      #expect(names.allSatisfy { !$0.hasPrefix(".") }, "\(names)")
      #expect(names.filter { $0.contains("-job\(job.id).") }.count == (work.kind == "backup" ? 1 : 0))
      let problems = try await DatabaseQueue(path: house.file.path).read {
        try String.fetchAll($0, sql: "PRAGMA integrity_check")
      }
      #expect(problems == ["ok"])
    }
  }

  @Test("a restore that was killed after it was done isn't done again, over what was written since")
  func restoredOnce() async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    try await house.fill(queue, 100)
    #expect(try await queue.run(.upkeep("backup")).state == .completed)
    let restored = try await queue.run(.upkeep("restore", #"{"backup": "latest"}"#))
    #expect(restored.state == .completed)
    try await house.fill(queue, 100, from: 100)
    // As it stood when the daemon was killed: the content is there, and the queue doesn't know.
    var environment = queue.environment
    environment.report = { _ in }
    let again = RestoreOperation(job: restored, environment: environment)
    again.main()
    guard case .completed(_, let note) = again.outcome else {
      Issue.record("\(again.outcome)")
      return
    }
    #expect(note?.contains("before the daemon ended") == true)
    #expect(try house.count() == 200)
    // A backup that was taken afterwards has the mark, too, and is restored all the same.
    #expect(try await queue.run(.upkeep("backup")).state == .completed)
    try await house.fill(queue, 1, from: 200)
    #expect(try await queue.run(.upkeep("restore", #"{"backup": "latest"}"#)).state == .completed)
    #expect(try house.count() == 200)
    await queue.drain(timeout: .seconds(10))
  }
}
