/// What happened to a job, as a log line names it under ``key``: words that stay the same, for programs that read the log.
package enum JobLogEvent: String, Sendable, CaseIterable {
  case submitted = "job-submitted"
  case started = "job-started"
  case completed = "job-completed"
  case retryable = "job-retryable"
  case discarded = "job-discarded"
  case cancelled = "job-cancelled"
  case rescued = "job-rescued"

  /// The metadata's key.
  package static let key = "event"

  /// What a step is; nil for those that are only a step on the way.
  init?(_ step: JobSnapshot.Transition) {
    switch (step.from, step.to) {
    case (nil, _): self = .submitted
    case (let from, let to) where from == to: return nil
    case (_, .running): self = .started
    case (_, .completed): self = .completed
    case (_, .retryable): self = .retryable
    case (_, .discarded): self = .discarded
    case (_, .cancelled): self = .cancelled
    case (.running, _): self = .rescued
    default: return nil
    }
  }
}
