import Foundation
import Testing

@testable import Jobs

@Suite("Timeouts and deadlines", .timeLimit(.minutes(20)))
struct LimitTests {
  /// Works until it is asked to stop.
  private static func patient(_ gate: Gate) -> ScriptedOperation.Script {
    { operation in
      gate.pass()
      while !operation.isCancelled { sched_yield() }
      return .cancelled(JobProgress(records: 4))
    }
  }

  @Test("an attempt that takes too long is stopped, has failed, and is tried again", arguments: StoreKind.allCases)
  func timeout(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let queue = try house.queue(["work": Self.patient(gate)])
    try await queue.start()
    let job = try await queue.submit(
      .of("work").with {
        $0.timeout = 5
        $0.maxAttempts = 2
      })
    gate.open(2)
    await gate.arrivals(1)
    house.clock.advance(by: 5)
    let failed = try await queue.job(job.id, when: .retryable)
    #expect(failed.failureCode == "timeout" && failed.progress.records == 4)
    #expect(failed.reason == "it took longer than the 5 s that an attempt may take")
    house.clock.advance(by: 10)
    await gate.arrivals(2)
    house.clock.advance(by: 5)
    #expect(try await queue.whenEnded(job.id).state == .discarded)
  }

  @Test("a job that waits past its deadline is discarded, wherever it waits", arguments: StoreKind.allCases)
  func waiting(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    try await queue.start()
    _ = try await queue.pause(lane: "import", by: "ben")
    let deadline = house.clock.now.addingTimeInterval(30)
    let changes: [@Sendable (inout JobSubmission) -> Void] = [
      { _ in }, { $0.isHeld = true }, { $0.notBefore = deadline.addingTimeInterval(60) },
    ]
    let jobs = try await changes.asyncMap { change in
      try await queue.submit(
        .of("noop").with {
          $0.deadline = deadline
          change(&$0)
        })
    }
    house.clock.advance(by: 29)
    for job in jobs { #expect(try await queue.job(job.id).state.isEnded == false) }
    house.clock.advance(by: 1)
    for job in jobs {
      let end = try await queue.whenEnded(job.id)
      #expect(end.state == .discarded && end.failureCode == "deadline")
    }
    // Wanted after all.
    _ = try await queue.resume(lane: "import", by: "ben")
    _ = try await queue.retry(jobs[0].id, by: "ben")
    #expect(try await queue.whenEnded(jobs[0].id).state == .completed)
  }

  @Test("a job that runs past its deadline is stopped and not tried again", arguments: StoreKind.allCases)
  func running(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let queue = try house.queue(["work": Self.patient(gate)])
    try await queue.start()
    let job = try await queue.submit(
      .of("work").with {
        $0.deadline = house.clock.now.addingTimeInterval(30)
        $0.timeout = 3600
      })
    gate.open()
    await gate.arrivals(1)
    house.clock.advance(by: 30)
    let end = try await queue.whenEnded(job.id)
    #expect(
      end.state == .discarded && end.failureCode == "deadline" && end.reason == "its deadline passed while it ran")
  }

  @Test("a cancelled job is cancelled, also when its time is over", arguments: StoreKind.allCases)
  func cancelledInTime(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let (gate, last) = (Gate(), Gate())
    let queue = try house.queue([
      "work": { operation in
        gate.pass()
        while !operation.isCancelled { sched_yield() }
        last.pass()
        return .cancelled(JobProgress())
      }
    ])
    try await queue.start()
    let job = try await queue.submit(.of("work").with { $0.timeout = 5 })
    gate.open()
    await gate.arrivals(1)
    house.clock.advance(by: 5)
    await last.arrivals(1)
    _ = try await queue.cancel(job.id, by: "ben")
    last.open()
    #expect(try await queue.whenEnded(job.id).state == .cancelled)
  }
}
