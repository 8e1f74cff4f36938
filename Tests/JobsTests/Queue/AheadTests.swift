import Dispatch
import Foundation
import Testing

@testable import Jobs

/// What begins while the ledger writes. Each test stops the ledger, so that it is known what isn't written.
@Suite("Short jobs", .timeLimit(.minutes(20)))
struct AheadTests {
  /// A queue with one job at work, and others that have been looked up as the next.
  private struct Scene {
    let house: TestHouse
    let gate = Gate()
    let order = Shared<Int64>()
    let queue: JobQueue

    init(_ kind: StoreKind, jobs: Int, concurrency: Int = 1) async throws {
      house = try TestHouse(kind)
      queue = try house.queue(
        [
          "work": { [gate, order] operation in
            order.append(operation.job.id)
            gate.pass()
            return operation.isCancelled ? .cancelled(JobProgress()) : .completed(JobProgress())
          }
        ], lanes: [.init(name: "import", concurrency: concurrency)])
      for _ in 0..<jobs { _ = try await queue.submit(.of("work")) }
      try await queue.start()
      await gate.arrivals(concurrency)
      gate.open()
      await gate.arrivals(concurrency + 1)
      await queue.ledger.queue.perform { _ in }
    }

    /// Lets nothing be written until that is signalled.
    func stopLedger() async -> DispatchSemaphore {
      let stopped = DispatchSemaphore(value: 0)
      await withCheckedContinuation { continuation in
        queue.ledger.queue.perform { _ in
          continuation.resume()
          stopped.wait()
        }
      }
      return stopped
    }
  }

  @Test("begin one after the other while the ends before them are being written", arguments: StoreKind.allCases)
  func begin(_ kind: StoreKind) async throws {
    let scene = try await Scene(kind, jobs: 8, concurrency: 2)
    let ledger = await scene.stopLedger()
    for number in 4...7 {
      scene.gate.open()
      await scene.gate.arrivals(number)
    }
    #expect(scene.gate.most == 2)
    // Nothing of it is in the store.
    #expect(try await scene.queue.job(4).state == .available)
    #expect(try await scene.queue.laneSnapshots().first?.running.count == 2)
    ledger.signal()
    scene.gate.open(8)
    for id in 1...8 {
      let job = try await scene.queue.whenEnded(Int64(id))
      #expect(job.state == .completed && job.attempt == 1)
      #expect(try await scene.queue.reasons(Int64(id)) == ["submitted", "attempt 1 of 5", "done"])
    }
    #expect(scene.order.all.sorted() == Array(1...8) && scene.gate.most == 2)
    let counts = try await scene.queue.counts()
    #expect(counts[.completed] == 8 && counts[.available] == 0 && counts[.running] == 0)
  }

  @Test(
    "that have begun are running for those who change them, and others are as they were", arguments: StoreKind.allCases)
  func change(_ kind: StoreKind) async throws {
    let scene = try await Scene(kind, jobs: 5)
    let queue = scene.queue
    let ledger = await scene.stopLedger()
    scene.gate.open()
    await scene.gate.arrivals(3)
    async let cancelled = queue.cancel(3, by: "bob")
    async let held = queue.hold(4, by: "bob")
    async let raised = queue.setPriority(5, to: 1, by: "bob")
    ledger.signal()
    #expect(try await cancelled.state == .running)
    #expect(try await held.state == .scheduled)
    #expect(try await raised.priority == 1)
    scene.gate.open(3)
    #expect(try await queue.whenEnded(3).state == .cancelled)
    #expect(
      try await queue.reasons(3).prefix(3) == ["submitted", "attempt 1 of 5", "cancelled by bob"])
    #expect(try await queue.whenEnded(5).state == .completed)
    #expect(try await queue.job(4).state == .scheduled)
    #expect(scene.order.all == [1, 2, 3, 5])
    await #expect(throws: JobQueueError.self) { _ = try await queue.hold(3, by: "bob") }
  }

  @Test("that have begun can't be held, or put elsewhere in the line", arguments: StoreKind.allCases)
  func refuse(_ kind: StoreKind) async throws {
    let scene = try await Scene(kind, jobs: 4)
    let queue = scene.queue
    let ledger = await scene.stopLedger()
    scene.gate.open()
    await scene.gate.arrivals(3)
    let held = Task { try await queue.hold(3, by: "bob") }
    ledger.signal()
    await #expect(throws: JobQueueError.self) { _ = try await held.value }
    await #expect(throws: JobQueueError.self) { _ = try await queue.setPriority(3, to: 1, by: "bob") }
    scene.gate.open(4)
    for id in 1...4 { #expect(try await queue.whenEnded(Int64(id)).state == .completed) }
    #expect(scene.order.all == [1, 2, 3, 4])
  }

  @Test("give way to what comes later and stands before them", arguments: StoreKind.allCases)
  func order(_ kind: StoreKind) async throws {
    let scene = try await Scene(kind, jobs: 5)
    let urgent = try await scene.queue.submit(.of("work", priority: 1)).id
    let ledger = await scene.stopLedger()
    // The next jobs aren't known any more, so none begins before the ledger claims it.
    scene.gate.open()
    ledger.signal()
    scene.gate.open(6)
    for id in Array(1...5) + [urgent] { _ = try await scene.queue.whenEnded(id) }
    #expect(scene.order.all == [1, 2, urgent, 3, 4, 5])
  }

  @Test("don't begin in a lane that is paused, or when the queue stops", arguments: StoreKind.allCases, [true, false])
  func stop(_ kind: StoreKind, _ isPaused: Bool) async throws {
    let scene = try await Scene(kind, jobs: 4)
    if isPaused {
      _ = try await scene.queue.pause(lane: "import", by: "bob")
      scene.gate.open(4)
      _ = try await scene.queue.whenEnded(2)
    } else {
      async let left = scene.queue.drain(timeout: .seconds(60))
      // It has been asked to stop.
      while !scene.queue.state.isDraining { await Task.yield() }
      scene.gate.open(4)
      #expect(await left.isEmpty)
    }
    #expect(scene.order.all == [1, 2])
    #expect(try await scene.queue.job(3).state == .available)
  }

  @Test("are written once the disk takes them, and no more begin before", arguments: StoreKind.allCases)
  func fullDisk(_ kind: StoreKind) async throws {
    let scene = try await Scene(kind, jobs: 5)
    let ledger = await scene.stopLedger()
    scene.gate.open()
    await scene.gate.arrivals(3)
    scene.house.faults.isFailing = true
    ledger.signal()
    // The end of 2 and the beginning of 3 are refused.
    while scene.house.faults.refused < 2 { await Task.yield() }
    await scene.queue.ledger.queue.perform { _ in }
    scene.gate.open()
    while scene.house.faults.refused < 4 { await Task.yield() }
    await scene.queue.ledger.queue.perform { _ in }
    #expect(scene.order.all == [1, 2, 3])
    scene.house.faults.isFailing = false
    scene.gate.open(3)
    scene.house.clock.advance(by: 2)
    for id in 1...5 {
      let job = try await scene.queue.whenEnded(Int64(id))
      #expect(job.state == .completed && job.attempt == 1)
      #expect(try await scene.queue.reasons(Int64(id)) == ["submitted", "attempt 1 of 5", "done"])
    }
    #expect(scene.order.all == [1, 2, 3, 4, 5])
  }
}
