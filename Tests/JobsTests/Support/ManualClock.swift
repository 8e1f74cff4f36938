import Foundation
import Synchronization

@testable import Jobs

/// A clock that stands still until a test moves it.
final class ManualClock: Sendable {
  private struct Call {
    let number: Int
    let time: Date
    let body: @Sendable () -> Void
  }
  private struct State {
    // Finer than a store keeps it, as the system's clock is.
    var now = Date(timeIntervalSince1970: 1_700_000_000.123_456_2)
    /// The seconds that have passed.
    var elapsed: TimeInterval = 0
    var calls: [Call] = []
    var count = 0
  }
  private let state = Mutex(State())

  /// The time as jobs have it.
  var now: Date { state.withLock { $0.now.asStored } }

  /// Advances by some seconds, and makes the calls that are due then.
  func advance(by seconds: TimeInterval) {
    set {
      $0.now += seconds
      $0.elapsed += seconds
    }
  }

  /// Shows another time, as a clock that is set, and makes the calls that are due then.
  func set(to time: Date) { set { $0.now = time } }

  private func set(_ change: (inout State) -> Void) {
    let due = state.withLock { state in
      change(&state)
      let due = state.calls.filter { $0.time <= state.now }.sorted { $0.time < $1.time }
      state.calls.removeAll { $0.time <= state.now }
      return due
    }
    for call in due { call.body() }
  }

  /// The times for which calls are asked, in order.
  var scheduled: [Date] { state.withLock { $0.calls.map(\.time).sorted() } }

  var clock: JobClock {
    var clock = JobClock(now: { self.state.withLock { $0.now } }) { time, body in
      let number = self.state.withLock { state -> Int? in
        guard time > state.now else { return nil }
        state.count += 1
        state.calls.append(Call(number: state.count, time: time, body: body))
        return state.count
      }
      guard let number else {
        body()
        return {}
      }
      return { self.state.withLock { $0.calls.removeAll { $0.number == number } } }
    }
    clock.elapsed = { self.state.withLock { $0.elapsed } }
    return clock
  }
}
