import Foundation
import Synchronization
import Testing

/// Lets only some of the tests that start daemons run at a time. All of them at once take more inotify instances than a user
/// has (128), and leave each daemon so little of two cores that what it does takes minutes.
///
/// A test that runs for too long fails. Swift Testing's `.timeLimit` would count its wait for others, too.
struct DaemonSlots: SuiteTrait, TestTrait, TestScoping {
  private static let slots = Slots(12)
  private static let limit: Duration = {
    if FaultSample.isLarge { return .seconds(10 * 3600) }
    let environment = ProcessInfo.processInfo.environment
    // Under a sanitizer everything takes many times as long.
    return environment["TSAN_OPTIONS"] ?? environment["ASAN_OPTIONS"] != nil ? .seconds(2 * 3600) : .seconds(20 * 60)
  }()

  var isRecursive: Bool { true }

  func scopeProvider(for test: Test, testCase: Test.Case?) -> DaemonSlots? { testCase == nil ? nil : self }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    await Self.slots.take()
    defer { Self.slots.giveBack() }
    let (ends, end) = AsyncStream.makeStream(of: Bool.self)
    @Sendable func run() async throws {
      defer { end.yield(true) }
      try await function()
    }
    async let result: Void = run()
    async let _: Void = {
      try await Task.sleep(for: Self.limit)
      end.yield(false)
    }()
    for await hasEnded in ends {
      guard hasEnded else {
        Issue.record("it has taken longer than \(Self.limit)")
        return
      }
      break
    }
    try await result
  }
}

extension Trait where Self == DaemonSlots {
  static var startsDaemons: DaemonSlots { DaemonSlots() }
}

private final class Slots: Sendable {
  private struct State {
    var free: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>

  init(_ count: Int) { state = Mutex(State(free: count)) }

  func take() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.free > 0 else {
          state.waiting.append(continuation)
          return false
        }
        state.free -= 1
        return true
      }
      if isFree { continuation.resume() }
    }
  }

  func giveBack() {
    let next = state.withLock { state in
      guard state.waiting.isEmpty else { return Optional(state.waiting.removeFirst()) }
      state.free += 1
      return nil
    }
    next?.resume()
  }
}
