import Dispatch
import Synchronization
import Testing

@testable import LadeDaemon

@Suite("Trials", .timeLimit(.minutes(20)))
struct TrialTests {
  @Test("a trial whose client goes away is told so while it works, and its result isn't used")
  func gone() async throws {
    let queue = DispatchQueue(label: "trials")
    let (begun, isBegun) = AsyncStream<Void>.makeStream()
    let task = Task {
      try await queue.trial(within: .seconds(3600)) { limit in
        isBegun.yield()
        // As a reader asks in the middle of a file.
        while !limit.isOver {}
        return limit.isUnwanted
      }
    }
    var beginning = begun.makeAsyncIterator()
    await beginning.next()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("a trial whose client has gone when its turn comes isn't begun")
  func neverBegun() async throws {
    let queue = DispatchQueue(label: "trials")
    let gate = DispatchSemaphore(value: 0)
    let hasBegun = Atomic<Bool>(false)
    queue.async { gate.wait() }
    let task = Task {
      try await queue.trial(within: .seconds(3600)) { _ in hasBegun.store(true, ordering: .relaxed) }
    }
    task.cancel()
    gate.signal()
    await #expect(throws: CancellationError.self) { try await task.value }
    let begun = hasBegun.load(ordering: .relaxed)
    #expect(!begun)
  }

  @Test("a trial's time ends it, and what it found by then is its result")
  func time() async throws {
    let queue = DispatchQueue(label: "trials")
    let found = try await queue.trial(within: .zero) { limit in
      while !limit.isOver {}
      return limit.isUnwanted ? "nothing" : "the beginning"
    }
    #expect(found == "the beginning")
  }
}
