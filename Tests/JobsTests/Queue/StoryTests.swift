import Foundation
import Logging
import Testing

@testable import Jobs

@Suite("Queue: a job's story in the log", .timeLimit(.minutes(20)))
struct StoryTests {
  @Test("each step is a line of its own that says which job it is about, and carries its lane, store and entity")
  func steps() async throws {
    let house = try TestHouse(.sqlite)
    let record = LogRecord()
    let progress = JobProgress(records: 5, inserted: 3, updated: 1, rejected: 1)
    let queue = try house.queue(["import": { _ in .completed(progress) }], logger: record.logger)
    try await queue.start()
    let submission = JobSubmission.of("import").with {
      $0.store = "main"
      $0.entity = "Person"
      $0.source = "people.csv"
    }
    let id = try await queue.submit(submission).id
    _ = try await queue.whenEnded(id)
    let lines = record.lines(of: id)
    #expect(
      lines.map(\.message) == [
        "job \(id): handed in by anna: import of Person from people.csv", "job \(id): running, attempt 1 of 5",
        "job \(id): completed in 0.0 s: 5 records, 3 inserted, 1 updated, 1 rejected",
      ])
    #expect(lines.map(\.level) == [.info, .info, .notice])
    #expect(lines.map { $0.metadata["event"] } == ["job-submitted", "job-started", "job-completed"])
    #expect(lines.map { $0.metadata["state"] } == ["available", "running", "completed"])
    for line in lines {
      let wanted = ["job": "\(id)", "kind": "import", "lane": "import", "store": "main", "entity": "Person"]
      #expect(line.metadata.filter { wanted.keys.contains($0.key) } == wanted)
    }
  }

  @Test("a failure that is tried again is a warning with its code, one for good an error, a cancelled job a notice")
  func failures() async throws {
    let house = try TestHouse(.inMemory)
    let record = LogRecord()
    let queue = try house.queue(
      [
        "later": { _ in .failed(JobFailure(code: "locked", message: "locked", isRetryable: true), JobProgress()) },
        "never": { _ in .failed(JobFailure(code: "malformed", message: "no CSV", isRetryable: false), JobProgress()) },
      ], logger: record.logger)
    try await queue.start()
    let later = try await queue.submit(.of("later")).id
    let failed = try await queue.job(later, when: .retryable)
    let next = try #require(failed.availableAt)
    _ = try await queue.cancel(later, by: "root")
    let never = try await queue.submit(.of("never")).id
    _ = try await queue.whenEnded(never)
    let ends = (record.lines(of: later).dropFirst(2) + record.lines(of: never).suffix(1)).map { line in
      (line.level, line.message, line.metadata["event"], line.metadata["code"])
    }
    #expect(ends.map(\.0) == [.warning, .notice, .error])
    let expected = [
      "job \(later): failed in attempt 1 of 5, to be tried again at \(next.formatted(.iso8601)): locked",
      "job \(later): cancelled by root", "job \(never): discarded: no CSV",
    ]
    #expect(ends.map(\.1) == expected)
    #expect(ends.map(\.2) == ["job-retryable", "job-cancelled", "job-discarded"])
    #expect(ends.map(\.3) == ["locked", nil, "malformed"])
  }

  @Test("a job that the daemon's end interrupted is logged when it continues")
  func rescue() async throws {
    let house = try TestHouse(.sqlite)
    let (gate, record) = (Gate(), LogRecord())
    let killed = try house.queue(["work": passing(gate)])
    try await killed.start()
    let id = try await killed.submit(.of("work")).id
    await gate.arrivals(1)
    // The first queue is left where it is, as by SIGKILL: from here on another process owns the store.
    let queue = try house.queue(["work": passing()], logger: record.logger)
    try await queue.start()
    _ = try await queue.whenEnded(id)
    let line = try #require(record.lines(of: id).first)
    #expect(line.level == .notice)
    #expect(line.metadata["event"] == "job-rescued")
    #expect(line.message == "job \(id): available again: the daemon ended while it ran")
    gate.open()
  }
}
