import Dispatch
package import Foundation
import Synchronization

/// The queue's only clock: the time, and calls at a time. Tests have their own.
package struct JobClock: Sendable {
  /// The current time.
  package var now: @Sendable () -> Date
  /// Seconds since some time, which go on whatever the clock is set to, and also while the system sleeps.
  package var elapsed: @Sendable () -> TimeInterval = { JobClock.began.duration(to: .now) / .seconds(1) }
  /// Calls a closure at a time, or immediately if it has passed. The result cancels the call.
  package var schedule: @Sendable (Date, @escaping @Sendable () -> Void) -> @Sendable () -> Void

  /// A clock.
  package init(
    now: @escaping @Sendable () -> Date,
    schedule: @escaping @Sendable (Date, @escaping @Sendable () -> Void) -> @Sendable () -> Void
  ) {
    self.now = now
    self.schedule = schedule
  }

  private static let began = ContinuousClock.now

  /// The system's clock. Its timers follow the wall clock when that is set.
  package static let system = JobClock(now: { Date() }) { time, body in
    let seconds = max(0, time.timeIntervalSince1970)
    let whole = seconds.rounded(.down)
    let at = DispatchWallTime(timespec: timespec(tv_sec: Int(whole), tv_nsec: Int((seconds - whole) * 1e9)))
    return timer(body) { $0.schedule(wallDeadline: at, leeway: .milliseconds(5)) }
  }

  /// Calls a closure after so many seconds, whatever a clock is set to. The result cancels the call.
  static func after(_ seconds: TimeInterval, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let wait = DispatchTime.now() + min(max(0, seconds), 1e8)
    return timer(body) { $0.schedule(deadline: wait, leeway: .milliseconds(5)) }
  }

  private static func timer(
    _ body: @escaping @Sendable () -> Void, _ schedule: (any DispatchSourceTimer) -> Void
  ) -> @Sendable () -> Void {
    let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
    schedule(timer)
    timer.setEventHandler(handler: body)
    timer.resume()
    let source = SendableTimer(timer: timer)
    return { source.timer.cancel() }
  }
}

/// Keeps a timer alive until it is cancelled.
private struct SendableTimer: @unchecked Sendable {
  // Sendable: Dispatch sources may be cancelled from any thread.
  let timer: any DispatchSourceTimer
}

/// One timer, set to the earliest of the requested times: nothing wakes up in between.
final class WakeTimer: Sendable {
  // A tuple with a function in it would be wrapped once more, by Swift, each time that it passes through the lock.
  private struct Pending {
    let time: Date
    var cancel: @Sendable () -> Void
    let number: Int
  }

  private let clock: JobClock
  private let pending = Mutex<Pending?>(nil)
  private let count = Atomic<Int>(0)

  init(clock: JobClock) { self.clock = clock }

  /// Calls `body` at `time`, unless an earlier call is due. The called code arms the timer again.
  func arm(_ time: Date, _ body: @escaping @Sendable () -> Void) {
    let number = count.add(1, ordering: .relaxed).newValue
    let isEarliest = pending.withLock { pending in
      if let pending, pending.time <= time { return false }
      pending?.cancel()
      pending = Pending(time: time, cancel: {}, number: number)
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
