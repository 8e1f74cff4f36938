import Foundation
import Testing

@testable import Jobs

@Suite("Removing jobs that have ended", .timeLimit(.minutes(20)))
struct RetentionTests {
  @Test(
    "each state is kept for its time, and what is kept of a job elsewhere goes with it", arguments: StoreKind.allCases)
  func age(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let (removed, gone) = (Shared<Int64>(), Gate())
    let queue = try house.queue(
      delegate: .init(removed: {
        removed.append($0.id)
        gone.open()
      }), retention: JobRetention(age: [.completed: 100, .cancelled: 1000]))
    try await queue.start()
    let done = try await queue.submit(.of("noop"))
    _ = try await queue.whenEnded(done.id)
    let stopped = try await queue.submit(.of("noop").with { $0.isHeld = true })
    _ = try await queue.cancel(stopped.id, by: "ben")
    _ = try await queue.whenEnded(stopped.id)
    house.clock.advance(by: 99)
    #expect(try await queue.jobs().count == 2)
    house.clock.advance(by: 1)
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        gone.pass()
        continuation.resume()
      }
    }
    #expect(removed.all == [done.id])
    await #expect(throws: JobQueueError.noSuchJob(done.id)) { try await queue.job(done.id) }
    #expect(try await queue.counts()[.completed] == 0)
    #expect(try await queue.job(stopped.id).state == .cancelled)
  }

  @Test("of many, those that ended last are kept", arguments: StoreKind.allCases)
  func count(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue(retention: JobRetention(count: 10))
    try await queue.start()
    var last: Job?
    for _ in 0..<111 { last = try await queue.submit(.of("noop")) }
    _ = try await queue.whenEnded(try #require(last).id)
    while try await queue.counts()[.completed] > 10 { await Task.yield() }
    #expect(try await queue.jobs().map(\.id) == (102...111).reversed())
  }

  @Test("a number isn't used again, not even that of the last job when the queue is reopened")
  func numbers() async throws {
    let house = try TestHouse(.sqlite)
    let queue = try house.queue()
    try await queue.start()
    let job = try await queue.submit(.of("noop"))
    await #expect(throws: JobQueueError.self) {
      try await queue.remove(try await queue.submit(.of("noop").with { $0.isHeld = true }).id, by: "ben")
    }
    _ = try await queue.cancel(job.id + 1, by: "ben")
    _ = try await queue.whenEnded(job.id)
    for id in [job.id, job.id + 1] { _ = try await queue.remove(id, by: "ben") }
    #expect(try await queue.jobs().isEmpty)
    await queue.drain(timeout: .seconds(10))
    let again = try TestHouse(reopening: house)
    #expect(try await again.queue().submit(.of("noop")).id == job.id + 2)
  }

  @Test("a batch goes with the last of its jobs", arguments: StoreKind.allCases)
  func batches(_ kind: StoreKind) async throws {
    let queue = try TestHouse(kind).queue()
    try await queue.start()
    let batch = try await queue.submit(
      batch: BatchSubmission(jobs: [.init(.of("noop")), .init(.of("noop"))], submittedBy: "anna"))
    for id in batch.jobs { _ = try await queue.whenEnded(id) }
    _ = try await queue.remove(batch.jobs[0], by: "ben")
    #expect(try await queue.batch(batch.id).jobs == [batch.jobs[1]])
    _ = try await queue.remove(batch.jobs[1], by: "ben")
    await #expect(throws: JobQueueError.noSuchBatch(batch.id)) { try await queue.batch(batch.id) }
  }
}
