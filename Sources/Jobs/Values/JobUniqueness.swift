package import Foundation

/// That there is to be one job of a key: a submission is answered with the job that is there, instead of a second one.
/// The options are those of Oban's `unique`.
package struct JobUniqueness: Sendable, Equatable {
  /// What the jobs have in common.
  package var key: String
  /// Seconds since their submission after which jobs don't count any more; nil for never.
  package var period: TimeInterval?
  /// Jobs count in these states.
  package var states: Set<JobState>

  /// All states of a job that hasn't ended.
  package static let live = Set(JobState.allCases.filter { !$0.isEnded })

  /// Uniqueness among the jobs that haven't ended; with a period among those too that have succeeded within it.
  package init(key: String, period: TimeInterval? = nil, states: Set<JobState>? = nil) {
    self.key = key
    self.period = period
    self.states = states ?? (period == nil ? Self.live : Self.live.union([.completed]))
  }
}
