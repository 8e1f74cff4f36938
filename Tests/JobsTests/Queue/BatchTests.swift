import Foundation
import Testing

@testable import Jobs

@Suite("Batches", .timeLimit(.minutes(20)))
struct BatchTests {
  private static let bad: ScriptedOperation.Script = { _ in
    throw JobFailure(code: "bad", message: "it is bad", isRetryable: false)
  }

  @Test("its jobs run in the order that they want, and its callback after them all", arguments: StoreKind.allCases)
  func callback(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let ran = Shared<String>()
    let note: ScriptedOperation.Script = {
      ran.append($0.job.tags.first ?? "")
      return .completed(JobProgress(records: 3))
    }
    let queue = try house.queue(["note": note], lanes: [.init(name: "import", concurrency: 3)])
    func job(_ tag: String) -> JobSubmission { .of("note").with { $0.tags = [tag] } }
    let batch = try await queue.submit(
      batch: BatchSubmission(
        name: "night",
        jobs: [
          .init(job("load"), name: "load", after: ["extract": .succeeded, "clear": .ended]),
          .init(job("clear"), name: "clear"), .init(job("extract"), name: "extract", after: ["clear": .succeeded]),
        ], callback: job("report"), submittedBy: "anna"))
    #expect(batch.total == 3 && batch.pending == 3 && batch.failed == 0 && batch.endedAt == nil)
    try await queue.start()
    let callback = try #require(batch.callback)
    #expect(try await queue.whenEnded(callback).state == .completed)
    #expect(ran.all == ["clear", "extract", "load", "report"])
    #expect(try await queue.job(batch.jobs[1]).tags == ["clear"])
    let end = try await queue.batch(batch.id)
    #expect(end.pending == 0 && end.endedAt != nil && end.name == "night" && end.jobs.count == 3)
    #expect(end.progress.records == 9)
    await #expect(throws: JobQueueError.self) { try await queue.submit(job("late").with { $0.batch = batch.id }) }
  }

  @Test(
    "a callback on success waits until what failed was tried again, one on the end doesn't",
    arguments: StoreKind.allCases)
  func failures(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let broken = try house.queue(["work": Self.bad])
    func batch(_ condition: JobDependency.Condition) -> BatchSubmission {
      BatchSubmission(
        jobs: [.init(.of("work")), .init(.of("noop"))], callback: .of("noop"), condition: condition,
        submittedBy: "anna")
    }
    let careful = try await broken.submit(batch: batch(.succeeded))
    let brave = try await broken.submit(batch: batch(.ended))
    try await broken.start()
    let braveEnd = try await broken.whenEnded(try #require(brave.callback))
    #expect(braveEnd.state == .completed)
    for id in careful.jobs { _ = try await broken.whenEnded(id) }
    let waiting = try await broken.batch(careful.id)
    #expect(waiting.pending == 0 && waiting.failed == 1)
    let callback = try #require(careful.callback)
    #expect(try await broken.job(callback).state == .scheduled)
    await broken.drain(timeout: .seconds(10))

    let repaired = try house.queue(["work": passing()])
    try await repaired.start()
    _ = try await repaired.retry(careful.jobs[0], by: "ben")
    #expect(try await repaired.whenEnded(callback).state == .completed)
    #expect(try await repaired.batch(careful.id).failed == 0)
  }

  @Test(
    "a callback on success is cancelled when a job that failed is removed, for it can't be tried again any more",
    arguments: StoreKind.allCases)
  func removed(_ kind: StoreKind) async throws {
    let queue = try TestHouse(kind).queue(["work": Self.bad])
    let batch = try await queue.submit(
      batch: BatchSubmission(
        jobs: [.init(.of("work")), .init(.of("noop"))], callback: .of("noop"), submittedBy: "anna"))
    try await queue.start()
    for id in batch.jobs { _ = try await queue.whenEnded(id) }
    let callback = try #require(batch.callback)
    _ = try await queue.remove(batch.jobs[1], by: "ben")
    #expect(try await queue.job(callback).state == .scheduled)
    _ = try await queue.remove(batch.jobs[0], by: "ben")
    let ended = try await queue.whenEnded(callback)
    #expect(ended.state == .cancelled)
    #expect(ended.reason == "job \(batch.jobs[0]) of batch \(batch.id) was removed, and hadn't succeeded")
  }

  @Test(
    "jobs that wait for each other, or for an unknown job, are refused, and nothing is made",
    arguments: StoreKind.allCases)
  func refusals(_ kind: StoreKind) async throws {
    let queue = try TestHouse(kind).queue()
    func refusal(_ members: [BatchSubmission.Member]) async throws -> String {
      var words = ""
      await #expect(throws: JobQueueError.self) {
        do {
          _ = try await queue.submit(batch: BatchSubmission(jobs: members, submittedBy: "anna"))
        } catch {
          words = "\(error)"
          throw error
        }
      }
      return words
    }
    func member(_ name: String, after: [String]) -> BatchSubmission.Member {
      .init(.of("noop"), name: name, after: Dictionary(uniqueKeysWithValues: after.map { ($0, .succeeded) }))
    }
    #expect(try await refusal([]).contains("no jobs"))
    #expect(
      try await refusal([
        member("z", after: []), member("a", after: ["c"]), member("b", after: ["a"]), member("c", after: ["b", "z"]),
      ])
      .hasSuffix("wait for each other: a after c after b after a"))
    #expect(try await refusal([member("a", after: ["a"])]).hasSuffix("a after a"))
    #expect(try await refusal([member("a", after: ["b"])]).contains("no job of the batch is called"))
    #expect(try await refusal([member("a", after: []), member("a", after: [])]).contains("two jobs"))
    #expect(try await refusal([.init(.of("nothing"))]).contains("must be one of"))
    #expect(try await refusal([.init(.of("noop").with { $0.uniqueKey = "k" })]).contains("unique key"))
    #expect(try await queue.jobs().isEmpty)
  }

  @Test("a job put into a batch later keeps it open", arguments: StoreKind.allCases)
  func joining(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let queue = try house.queue(["work": passing(gate)])
    try await queue.start()
    let batch = try await queue.submit(
      batch: BatchSubmission(jobs: [.init(.of("work"))], callback: .of("noop"), submittedBy: "anna"))
    await gate.arrivals(1)
    let late = try await queue.submit(.of("work").with { $0.batch = batch.id })
    gate.open()
    await gate.arrivals(2)
    #expect(try await queue.batch(batch.id).pending == 1)
    let callback = try #require(batch.callback)
    #expect(try await queue.job(callback).state == .scheduled)
    gate.open()
    _ = try await queue.whenEnded(late.id)
    #expect(try await queue.whenEnded(callback).state == .completed)
    #expect(try await queue.batch(batch.id).total == 2)
    await #expect(throws: JobQueueError.noSuchBatch(99)) { try await queue.batch(99) }
  }
}
