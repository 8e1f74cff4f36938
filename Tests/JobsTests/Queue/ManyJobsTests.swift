import Foundation
import Testing

@testable import Jobs

@Suite("Many jobs, and what comes first", .timeLimit(.minutes(20)))
struct ManyJobsTests {
  @Test("a job made more urgent overtakes those before it, and only while it waits", arguments: StoreKind.allCases)
  func priority(_ kind: StoreKind) async throws {
    let ran = Shared<Int64>()
    let queue = try TestHouse(kind).queue([
      "note": {
        ran.append($0.job.id)
        return .completed(JobProgress())
      }
    ])
    let jobs = try await (0..<3).asyncMap { _ in try await queue.submit(.of("note")) }
    #expect(try await queue.setPriority(jobs[2].id, to: 8, by: "ben").priority == 8)
    await #expect(throws: JobQueueError.self) { try await queue.setPriority(jobs[2].id, to: 1 << 40, by: "ben") }
    try await queue.start()
    for job in jobs { _ = try await queue.whenEnded(job.id) }
    #expect(ran.all == [jobs[2].id, jobs[0].id, jobs[1].id])
    await #expect(throws: JobQueueError.self) { try await queue.setPriority(jobs[2].id, to: 1, by: "ben") }
  }

  @Test("uniqueness counts the states and the time that it says", arguments: StoreKind.allCases)
  func uniqueness(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    try await queue.start()
    let daily = JobSubmission.of("noop").with { ($0.uniqueKey, $0.uniquePeriod) = ("daily", 100) }
    let first = try await queue.receive(daily)
    #expect(first.isNew)
    _ = try await queue.whenEnded(first.job.id)
    let second = try await queue.receive(daily)
    #expect(!second.isNew && second.job.id == first.job.id)
    house.clock.advance(by: 100)
    let third = try await queue.receive(daily)
    #expect(third.isNew)
    _ = try await queue.whenEnded(third.job.id)
    // Without a period only those count that haven't ended.
    #expect(try await queue.receive(.of("noop").with { $0.uniqueKey = "daily" }).isNew)
    #expect(
      try await queue.receive(.of("noop").with { ($0.uniqueKey, $0.uniqueStates) = ("daily", [.completed]) }).isNew
        == false)
  }

  @Test("submissions whose callers wait in place become one job each, among others", arguments: StoreKind.allCases)
  func waitingCallers(_ kind: StoreKind) async throws {
    let queue = try TestHouse(kind).queue(lanes: [.init(name: "import", concurrency: 2)])
    try await queue.start()
    let ids = try await withThrowingTaskGroup(of: Int64.self) { group in
      for number in 0..<60 {
        group.addTask { try await queue.receive([.of("noop")], waits: !number.isMultiple(of: 3))[0].get().job.id }
      }
      return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
    }
    #expect(ids.count == 60)
    for id in ids { #expect(try await queue.whenEnded(id).state == .completed) }
  }
}
