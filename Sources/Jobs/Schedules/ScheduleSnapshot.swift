package import Foundation

/// A schedule as it stands: what it is to do, and what came of it.
package struct ScheduleSnapshot: Sendable, Equatable {
  /// The job that a schedule made last.
  package struct LastJob: Sendable, Equatable {
    package var id: Int64
    package var state: JobState
  }

  package var name: String
  /// What kind of job it makes.
  package var kind: String
  /// Its calendar expressions in their normalised form.
  package var calendar: [String]
  /// The zones of these expressions, each once.
  package var timeZones: [String]
  package var catchUp: ScheduleConfiguration.CatchUp
  package var isEnabled: Bool
  /// When its next job is made, its delay included; nil if none ever is, or before the queue was started.
  package var nextElapse: Date?
  /// The latest time that it was due, without the delay.
  package var lastElapse: Date?
  /// What came of it.
  package var lastOutcome: String?
  /// The job that it made last; nil if there is none, or it was removed since.
  package var lastJob: LastJob?
}
