import Foundation
import Synchronization

/// Notices that the system's clock was set: its time and the time that has passed moved apart. Safe from any thread.
///
/// Timers follow a clock that is set forward. One that is set back fires no timer, so it has to be looked for.
final class ClockSteps: Sendable {
  /// Seconds from which on a difference is a step. Time servers correct less by letting the clock run faster or slower.
  private static let least: TimeInterval = 1
  /// Seconds that reading both clocks may take.
  private static let simultaneous: TimeInterval = 0.1

  private let clock: JobClock
  /// What the clock was ahead of the time that has passed, at the last look.
  private let lead: Mutex<TimeInterval>

  init(_ clock: JobClock) {
    self.clock = clock
    lead = Mutex(Self.lead(of: clock))
  }

  /// By how many seconds the clock was set since the last look, negative if it was set back; nil if it wasn't.
  func take() -> TimeInterval? {
    let now = Self.lead(of: clock)
    let step = lead.withLock { lead in
      defer { lead = now }
      return now - lead
    }
    return abs(step) >= Self.least ? step : nil
  }

  private static func lead(of clock: JobClock) -> TimeInterval {
    while true {
      let before = clock.elapsed()
      let time = clock.now().timeIntervalSince1970
      let after = clock.elapsed()
      // A process that was stopped in between would take that for a step.
      if after - before <= simultaneous { return time - after }
    }
  }
}
