package import Foundation

/// A job that is to be done again and again: see ``JobQueue/schedules()`` for what came of it.
package struct ScheduleConfiguration: Sendable, Equatable {
  /// What becomes of the runs for which the queue wasn't there.
  package enum CatchUp: String, Sendable, CaseIterable {
    /// One job is made for all of them.
    case once
    /// None is.
    case skip
  }

  /// Its name, by which it is known from one start to the next.
  package var name: String
  /// When: at every time that one of them stands for.
  package var calendar: [CalendarExpression]
  /// What: the job of each run. Who submits it and what makes it one of a kind are set by the queue.
  package var submission: JobSubmission
  /// What becomes of the runs that are missed.
  package var catchUp = CatchUp.once
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
