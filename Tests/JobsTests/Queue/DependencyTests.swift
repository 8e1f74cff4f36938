import Foundation
import Testing

@testable import Jobs

@Suite("Jobs that follow others", .timeLimit(.minutes(20)))
struct DependencyTests {
  @Test("a job begins when all that it follows have ended", arguments: StoreKind.allCases)
  func following(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let queue = try house.queue(["slow": passing(gate)], lanes: [.init(name: "import", concurrency: 4)])
    try await queue.start()
    let first = try await queue.submit(.of("slow"))
    let second = try await queue.submit(.of("slow"))
    let last = try await queue.submit(
      .of("noop").with { $0.after = [JobDependency(job: first.id), JobDependency(job: second.id, condition: .ended)] })
    #expect(last.state == .scheduled && last.isAwaitingJobs)
    let shown = try await queue.job(last.id, withTransitions: true)
    #expect(shown.after?.map(\.job) == [first.id, second.id])
    #expect(shown.waitsFor == "jobs \(first.id), \(second.id)" && shown.obstacle == .jobs)
    await gate.arrivals(2)
    gate.open()
    _ = try await queue.job(first.id) { _ in true }
    #expect(try await queue.job(last.id).state == .scheduled)
    gate.open()
    #expect(try await queue.whenEnded(last.id).state == .completed)
    let ends = try await [first.id, second.id].asyncMap { try await queue.job($0).endedAt ?? .distantFuture }
    let begun = try #require(try await queue.job(last.id).startedAt)
    #expect(ends.allSatisfy { $0 <= begun })
  }

  @Test("what follows a job that fails is cancelled, and so on down the line", arguments: StoreKind.allCases)
  func failing(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue([
      "bad": { _ in throw JobFailure(code: "bad", message: "it is bad", isRetryable: false) }
    ])
    var chain = [try await queue.submit(.of("bad"))]
    for _ in 0..<300 {
      let before = chain[chain.count - 1].id
      chain.append(try await queue.submit(.of("noop").with { $0.after = [JobDependency(job: before)] }))
    }
    let anyway = try await queue.submit(
      .of("noop").with { $0.after = [JobDependency(job: chain[300].id, condition: .ended)] })
    try await queue.start()
    #expect(try await queue.whenEnded(anyway.id).state == .completed)
    let last = try await queue.whenEnded(chain[300].id)
    #expect(last.state == .cancelled && last.reason == "job \(chain[299].id), which it was to follow, was cancelled")
    #expect(
      try await queue.job(chain[1].id).reason == "job \(chain[0].id), which it was to follow, was discarded")
    // Whoever wants one of them anyway may have it.
    _ = try await queue.retry(chain[7].id, by: "ben")
    #expect(try await queue.whenEnded(chain[7].id).state == .completed)
  }

  @Test("following what has ended already is no waiting, or is refused", arguments: StoreKind.allCases)
  func late(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    let good = try await queue.submit(.of("noop"))
    let bad = try await queue.submit(.of("noop").with { $0.isHeld = true })
    _ = try await queue.cancel(bad.id, by: "ben")
    try await queue.start()
    _ = try await queue.whenEnded(good.id)
    let next = try await queue.submit(.of("noop").with { $0.after = [JobDependency(job: good.id)] })
    #expect(try await queue.whenEnded(next.id).state == .completed)
    let anyway = try await queue.submit(
      .of("noop").with { $0.after = [JobDependency(job: bad.id, condition: .ended)] })
    #expect(try await queue.whenEnded(anyway.id).state == .completed)
    await #expect(throws: JobQueueError.self) {
      try await queue.submit(.of("noop").with { $0.after = [JobDependency(job: bad.id)] })
    }
    await #expect(throws: JobQueueError.noSuchJob(4711)) {
      try await queue.submit(.of("noop").with { $0.after = [JobDependency(job: 4711)] })
    }
    #expect(try await queue.jobs().count == 4)
  }

  @Test("what a killed daemon left waiting goes on after the next start", arguments: StoreKind.allCases)
  func restart(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let killed = try house.queue(["work": passing(gate)])
    try await killed.start()
    let first = try await killed.submit(.of("work"))
    let second = try await killed.submit(.of("work").with { $0.after = [JobDependency(job: first.id)] })
    await gate.arrivals(1)
    let queue = try house.queue(["work": passing()])
    try await queue.start()
    #expect(try await queue.whenEnded(second.id).state == .completed)
    #expect(try await queue.job(first.id).state == .completed)
    gate.open()
  }
}

extension Sequence {
  func asyncMap<T>(_ transform: (Element) async throws -> T) async rethrows -> [T] {
    var result: [T] = []
    for element in self { result.append(try await transform(element)) }
    return result
  }
}
