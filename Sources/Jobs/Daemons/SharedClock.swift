import Foundation
import ManagedObjects
import Synchronization

/// The time of those that share a queue: the clock of its store, which is asked now and then, and in between the time that has
/// passed here. So what the clock of a host says, or is set to, doesn't matter. Safe from any thread.
final class SharedClock: Sendable {
  /// Seconds by which the time here may differ from the store's.
  private static let tolerance: TimeInterval = 0.1

  private let store: any SharedStore
  private let elapsed = JobClock.system.elapsed
  /// The time when `elapsed` was zero.
  private let origin: Mutex<Date>

  /// Asks the store. Blocks.
  init(_ store: any SharedStore) throws {
    self.store = store
    origin = Mutex(.distantPast)
    try measure()
  }

  /// Asks the store. Blocks.
  /// - Returns: the store's time.
  @discardableResult
  func measure() throws -> Date {
    let before = elapsed()
    let time = try store.time()
    note(time, before: before)
    return time
  }

  /// Takes over a time of the store that was just received.
  /// - Parameter before: when it was asked for, in seconds of `JobClock.elapsed`.
  func note(_ time: Date, before: TimeInterval) {
    let after = elapsed()
    let new = time.addingTimeInterval(-(before + after) / 2)
    // An answer that took long says little.
    let tolerance = max(Self.tolerance, after - before)
    origin.withLock { if abs($0.timeIntervalSince(new)) > tolerance { $0 = new } }
  }

  /// As the parts of a queue know it.
  var clock: JobClock {
    var clock = JobClock(
      now: { [self] in origin.withLock { $0 }.addingTimeInterval(elapsed()) },
      schedule: { [self] time, body in
        let seconds = time.timeIntervalSince(origin.withLock { $0 }) - elapsed()
        return JobClock.after(seconds, body)
      })
    clock.elapsed = elapsed
    return clock
  }
}
