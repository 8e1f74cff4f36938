import Foundation
import Testing

@testable import Jobs

@Suite("Stopping and starting again", .timeLimit(.minutes(20)))
struct RestartTests {
  @Test(
    "what a killed daemon left running is put back and runs again, as the same attempt", arguments: StoreKind.allCases)
  func rescue(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let killed = try house.queue([
      "work": { _ in
        gate.pass(); return .completed(JobProgress())
      }
    ])
    try await killed.start()
    let job = try await killed.submit(.of("work").with { $0.maxAttempts = 1 })
    await gate.arrivals(1)
    // The first queue is left where it is, as by SIGKILL: from here on another process owns the store.
    let queue = try house.queue(["work": { .completed(JobProgress(records: Int64($0.job.attempt))) }])
    try await queue.start()
    let end = try await queue.whenEnded(job.id)
    #expect(end.state == .completed && end.attempt == 1 && end.rescues == 1 && end.progress.records == 1)
    #expect(
      try await queue.reasons(job.id) == [
        "submitted", "attempt 1 of 1", "the daemon ended while it ran", "attempt 1 of 1", "done",
      ])
    gate.open()
  }

  @Test(
    "a job that was to be stopped when the daemon was killed is cancelled at the start", arguments: StoreKind.allCases)
  func rescueOfCancelled(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let killed = try house.queue([
      "work": { _ in
        gate.pass(); return .completed(JobProgress())
      }
    ])
    try await killed.start()
    let job = try await killed.submit(.of("work"))
    await gate.arrivals(1)
    _ = try await killed.cancel(job.id, by: "ben")
    let finished = Shared<Int64>()
    let queue = try house.queue(
      ["work": { _ in .completed(JobProgress()) }], delegate: .init(finished: { finished.append($0.id) }))
    try await queue.start()
    let end = try await queue.whenEnded(job.id)
    #expect(end.state == .cancelled && end.reason == "cancelled by ben")
    #expect(finished.all == [job.id])
    gate.open()
  }

  @Test("a drained job stops at its next batch and goes on after the next start", arguments: StoreKind.allCases)
  func drain(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let work: ScriptedOperation.Script = { operation in
      var progress = operation.job.progress
      while progress.records < 3 {
        if operation.isDraining { return .interrupted(progress) }
        progress.records += 1
        gate.pass()
      }
      return .completed(progress)
    }
    let first = try house.queue(["work": work])
    try await first.start()
    let job = try await first.submit(.of("work"))
    let waiting = try await first.submit(.of("noop"))
    await gate.arrivals(1)
    async let left = first.drain(timeout: .seconds(60))
    _ = await first.ledger.queue.perform { _ in }
    await drained(first, job.id)
    gate.open()
    #expect(await left.isEmpty)
    let stopped = try await first.job(job.id)
    #expect(stopped.state == .available && stopped.reason == "the daemon stopped" && stopped.attempt == 0)
    #expect(stopped.progress.records == 1)
    #expect(try await first.submit(.of("noop")).state == .available)
    #expect(try await first.job(waiting.id).state == .available)

    let second = try house.queue(["work": work])
    try await second.start()
    gate.open(2)
    let end = try await second.whenEnded(job.id)
    #expect(end.state == .completed && end.attempt == 1 && end.progress.records == 3 && end.rescues == 0)
    #expect(try await second.whenEnded(waiting.id).state == .completed)
  }

  /// Waits until the operation has been asked to stop.
  private func drained(_ queue: JobQueue, _ id: Int64) async {
    while let running = queue.state.operation(of: id), !running.isDraining {
      await Task.yield()
    }
  }

  @Test("a drain that takes too long names what still runs", arguments: StoreKind.allCases)
  func drainTimeout(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let queue = try house.queue([
      "stubborn": { _ in
        gate.pass(); return .completed(JobProgress())
      }
    ])
    try await queue.start()
    let job = try await queue.submit(.of("stubborn"))
    await gate.arrivals(1)
    let left = await queue.drain(timeout: .zero)
    #expect(left.map(\.id) == [job.id])
    gate.open()
    #expect(try await queue.whenEnded(job.id).state == .completed)
  }

  @Test("streams of events end with the drain", arguments: StoreKind.allCases)
  func streamsEnd(_ kind: StoreKind) async throws {
    let queue = try TestHouse(kind).queue()
    let events = queue.events()
    try await queue.start()
    await queue.drain(timeout: .seconds(10))
    var last: Job?
    for await event in events { last = event }
    for await event in queue.events() { last = event }
    #expect(last == nil)
  }

  @Test("a queue is started once", arguments: StoreKind.allCases)
  func startedTwice(_ kind: StoreKind) async throws {
    let queue = try TestHouse(kind).queue()
    try await queue.start()
    await #expect(throws: JobQueueError.startedBefore) { try await queue.start() }
  }

  @Test("an end that can't be written keeps its slot and is written later", arguments: StoreKind.allCases)
  func unwrittenEnd(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let queue = try house.queue([
      "work": { _ in
        gate.pass(); return .completed(JobProgress(records: 9))
      }
    ])
    try await queue.start()
    let job = try await queue.submit(.of("work"))
    let next = try await queue.submit(.of("noop"))
    await gate.arrivals(1)
    house.faults.isFailing = true
    gate.open()
    while house.clock.scheduled.isEmpty { await Task.yield() }
    #expect(try await queue.job(job.id).state == .running)
    #expect(try await queue.job(next.id).state == .available)
    house.faults.isFailing = false
    house.clock.advance(by: 1)
    let end = try await queue.whenEnded(job.id)
    #expect(end.state == .completed && end.progress.records == 9)
    #expect(try await queue.whenEnded(next.id).state == .completed)
  }

  @Test("a claim that can't be written is made later", arguments: StoreKind.allCases)
  func unwrittenClaim(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    let job = try await queue.submit(.of("noop"))
    house.faults.isFailing = true
    try await queue.start()
    #expect(house.faults.refused > 0)
    #expect(try await queue.job(job.id).state == .available)
    house.faults.isFailing = false
    house.clock.advance(by: 1)
    #expect(try await queue.whenEnded(job.id).attempt == 1)
  }

  @Test("a job of this queue that another program deletes doesn't block its lane", arguments: StoreKind.allCases)
  func deletedWhileRunning(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let queue = try house.queue([
      "work": { _ in
        gate.pass(); return .completed(JobProgress())
      }
    ])
    try await queue.start()
    let job = try await queue.submit(.of("work"))
    await gate.arrivals(1)
    let other = try JobLedgerVandal(house)
    try await other.delete(job.id)
    gate.open()
    let next = try await queue.submit(.of("noop"))
    #expect(try await queue.whenEnded(next.id).state == .completed)
  }
}
