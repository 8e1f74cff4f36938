import Dispatch
package import Foundation

/// The queue's only clock: the time, and calls at a time. Tests have their own.
package struct JobClock: Sendable {
  /// The current time.
  package var now: @Sendable () -> Date
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

  /// The system's clock. Its timers follow the wall clock when that is set.
  package static let system = JobClock(now: { Date() }) { time, body in
    let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
    let seconds = max(0, time.timeIntervalSince1970)
    let whole = seconds.rounded(.down)
    let at = DispatchWallTime(timespec: timespec(tv_sec: Int(whole), tv_nsec: Int((seconds - whole) * 1e9)))
    timer.schedule(wallDeadline: at, leeway: .milliseconds(5))
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
