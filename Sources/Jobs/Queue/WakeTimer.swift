import Foundation
import Synchronization

/// One timer, set to the earliest of the requested times: nothing wakes up in between.
final class WakeTimer: Sendable {
  private let clock: JobClock
  private let pending = Mutex<(time: Date, cancel: @Sendable () -> Void, number: Int)?>(nil)
  private let count = Atomic<Int>(0)

  init(clock: JobClock) { self.clock = clock }

  /// Calls `body` at `time`, unless an earlier call is due. The called code arms the timer again.
  func arm(_ time: Date, _ body: @escaping @Sendable () -> Void) {
    let number = count.add(1, ordering: .relaxed).newValue
    let isEarliest = pending.withLock { pending in
      if let pending, pending.time <= time { return false }
      pending?.cancel()
      pending = (time, {}, number)
      return true
    }
    guard isEarliest else { return }
    // Outside the lock: for a time that has passed the clock calls immediately.
    let cancel = clock.schedule(time) { [weak self] in
      guard let self else { return }
      let isCurrent = self.pending.withLock { pending in
        guard pending?.number == number else { return false }
        pending = nil
        return true
      }
      if isCurrent { body() }
    }
    pending.withLock { if $0?.number == number { $0?.cancel = cancel } }
  }

  func cancel() {
    pending.withLock {
      $0?.cancel()
      $0 = nil
    }
  }
}
