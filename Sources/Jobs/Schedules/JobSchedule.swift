package import Foundation
import ManagedObjects

/// A job that is to be done again and again: see ``JobQueue/schedules()`` for what came of it.
package struct JobSchedule: Sendable, Equatable {
  /// Its name, by which it is known from one start to the next.
  package var name: String
  /// When: at every time that one of them stands for.
  package var calendar: [CalendarExpression]
  /// What: the job of each run. Who submits it and what makes it one of a kind are set by the queue.
  package var submission: JobSubmission
  /// What becomes of the runs that are missed.
  package var catchUp = Schedule.CatchUp.once
  /// Seconds by which a run may be late: each has a delay of its own below it, the same however often it is looked at,
  /// that never reaches the next run. systemd's RandomizedDelaySec.
  package var jitter: TimeInterval = 0
  /// Whether it runs at all. What passes while it doesn't isn't missed.
  package var isEnabled = true

  /// A schedule; what else isn't given can be set on it.
  package init(name: String, calendar: [CalendarExpression], submission: JobSubmission) {
    self.name = name
    self.calendar = calendar
    self.submission = submission
  }

  /// The calendar as the store remembers it; a different one starts again. nil while it doesn't run.
  var signature: String? {
    guard isEnabled else { return nil }
    return calendar.map { "\($0.normalized) [\($0.zone.name)]" }.sorted().joined(separator: "; ")
  }
}

/// A time for which a schedule has a job made, and when that is due. In millionths of a second from the start of 1970.
struct ScheduledElapse: Sendable, Equatable {
  var time: Int64
  var due: Int64
}

extension JobSchedule {
  /// The first elapse after a time.
  /// - Parameter queue: the queue's name: of two machines with the same configuration each has delays of its own.
  func next(after time: Int64, queue: String) -> ScheduledElapse? {
    nextTime(after: time).map { ScheduledElapse(time: $0, due: $0 + delay(of: $0, queue: queue)) }
  }

  /// The latest elapse after a time that is due; nil if none is.
  func latest(after start: Int64, dueAt now: Int64, queue: String) -> ScheduledElapse? {
    guard let latest = latestTime(after: start, notAfter: now) else { return nil }
    let delay = delay(of: latest, queue: queue)
    if latest + delay <= now { return ScheduledElapse(time: latest, due: latest + delay) }
    // A delay never reaches the next elapse, so the one before is due.
    guard let before = latestTime(after: start, notAfter: latest - 1) else { return nil }
    return ScheduledElapse(time: before, due: before + self.delay(of: before, queue: queue))
  }

  /// How many elapses are after a time and up to another; one more than `MissedTimes.most` for any number above.
  func number(after start: Int64, notAfter end: Int64) -> Int {
    var (count, time) = (0, start)
    while count <= MissedTimes.most, let next = nextTime(after: time), next <= end { (count, time) = (count + 1, next) }
    return count
  }

  private func nextTime(after time: Int64) -> Int64? {
    calendar.lazy.compactMap { $0.next(afterMicroseconds: time) }.min()
  }

  /// The latest time after `start` and up to `end`: by halving, for there may be millions in between.
  private func latestTime(after start: Int64, notAfter end: Int64) -> Int64? {
    guard var best = nextTime(after: start), best <= end else { return nil }
    var low = best
    var high = end
    while low < high {
      let middle = low + (high - low) / 2
      if let next = nextTime(after: middle), next <= end {
        best = next
        low = next
      } else {
        high = middle
      }
    }
    return best
  }

  private func delay(of time: Int64, queue: String) -> Int64 {
    guard jitter > 0 else { return 0 }
    var longest = Int64(jitter * 1_000_000)
    if let next = nextTime(after: time) { longest = min(longest, next - time) }
    guard longest > 0 else { return 0 }
    // FNV-1a, which is the same in every process, and a finish that spreads what differs in the last byte alone.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in "\(queue) \(name) \(time)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    hash = (hash ^ hash >> 32) &* 0x9e37_79b9_7f4a_7c15
    return Int64((hash ^ hash >> 29) % UInt64(longest))
  }
}
