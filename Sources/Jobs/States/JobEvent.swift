package import Foundation

/// What happens to a job.
package enum JobEvent: Sendable, Equatable {
  /// It is submitted, with what it has to wait for.
  case submitted(JobWaiting)
  /// The time it waited for has come.
  case due
  /// Its lane takes it.
  case claimed
  /// Its operation did everything.
  case succeeded
  /// Its operation failed. `jitter` is a random number from 0 up to 1, for the time of the next attempt.
  case failed(isRetryable: Bool, jitter: Double)
  /// A user cancels it.
  case cancelRequested
  /// Its operation stopped because of that.
  case cancelled
  /// Its operation stopped because the daemon stops.
  case interrupted
  /// The daemon that ran it is gone.
  case rescued
  /// A user retries it.
  case retryRequested
  /// A user holds it back.
  case held
  /// A user releases it.
  case released
  /// Its file is in `active/`.
  case fileArrived
  /// Its file was in `active/` and isn't any more: its move was lost with the power.
  case fileLost
  /// The jobs that it follows have ended as it wanted.
  case dependenciesMet
  /// A job that it follows has ended otherwise than it wanted.
  case dependencyFailed
  /// Its deadline has passed before it ran.
  case expired

  /// The event's name without what comes with it.
  package var name: String {
    switch self {
    case .submitted: return "submitted"
    case .due: return "due"
    case .claimed: return "claimed"
    case .succeeded: return "succeeded"
    case .failed: return "failed"
    case .cancelRequested: return "cancel requested"
    case .cancelled: return "cancelled"
    case .interrupted: return "interrupted"
    case .rescued: return "rescued"
    case .retryRequested: return "retry requested"
    case .held: return "held"
    case .released: return "released"
    case .fileArrived: return "file arrived"
    case .fileLost: return "file lost"
    case .dependenciesMet: return "dependencies met"
    case .dependencyFailed: return "dependency failed"
    case .expired: return "expired"
    }
  }
}

/// What a new job has to wait for, and until when it makes sense.
package struct JobWaiting: Sendable, Equatable {
  /// It isn't to run earlier.
  package var notBefore: Date?
  /// It is to have ended by then.
  package var deadline: Date?
  /// It has to be released first.
  package var isHeld: Bool
  /// Its file isn't in `active/` yet.
  package var awaitsFile: Bool
  /// It follows jobs that haven't ended.
  package var awaitsJobs: Bool

  /// Nothing, where nothing is given.
  package init(
    notBefore: Date? = nil, deadline: Date? = nil, isHeld: Bool = false, awaitsFile: Bool = false,
    awaitsJobs: Bool = false
  ) {
    self.notBefore = notBefore
    self.deadline = deadline
    self.isHeld = isHeld
    self.awaitsFile = awaitsFile
    self.awaitsJobs = awaitsJobs
  }
}

/// What the queue has to do after a transition, once it is durable.
package enum JobAction: Sendable, Equatable {
  /// The job may run: its lane is to look for work.
  case offer
  /// The job is due then: the timer is to be set.
  case wake(Date)
  /// The job was claimed: its operation is to be started.
  case run
  /// Its operation is to be cancelled.
  case stop
  /// The job has ended: its file is to be put away, and those who wait for it go on.
  case settle
}

/// An event that can't happen to a job where it stands.
package struct IllegalTransition: Error, Sendable, Equatable, CustomStringConvertible {
  /// Where the job stands; nil before it was submitted.
  package let state: JobState?
  /// What was to happen.
  package let event: JobEvent
  /// Why it can't.
  package let why: String

  package var description: String {
    "a job that is \(state?.rawValue ?? "not submitted") can't be \(participle): \(why)"
  }

  /// The participle for messages: the name of the event, except for requests.
  var participle: String {
    switch event {
    case .cancelRequested: "cancelled"
    case .retryRequested: "retried"
    default: event.name
    }
  }
}
