// An operation can't be ended from outside: one that runs past its time is asked to stop, as by a cancellation, and what
// it answers becomes a failure. Until it answers it keeps its slot.

import Foundation
import Logging

extension JobQueue {
  /// When an operation that begins now is to be stopped.
  func limit(of job: JobSnapshot) -> QueueState.Limit? {
    let begun = job.startedAt ?? clock.now()
    let timeout = job.timeout.map { seconds in
      QueueState.Limit(
        time: begun.addingTimeInterval(seconds),
        failure: JobFailure(
          code: "timeout", message: "it took longer than the \(Self.text(seconds)) that an attempt may take",
          isRetryable: true))
    }
    let deadline = job.deadline.map {
      QueueState.Limit(
        time: $0, failure: JobFailure(code: "deadline", message: "its deadline passed while it ran", isRetryable: false)
      )
    }
    guard let timeout, let deadline else { return timeout ?? deadline }
    return timeout.time < deadline.time ? timeout : deadline
  }

  /// Asks operations to stop whose time is over.
  /// - Returns: when to look again; nil if no limit is ahead.
  func stopOverdue() -> Date? {
    let now = clock.now()
    let (overdue, next) = state.withLock { state in
      var overdue: [(Int64, JobOperation)] = []
      var next: Date?
      for (id, running) in state.running {
        guard let limit = running.limit, running.passed == nil else { continue }
        if limit.time <= now {
          state.running[id]?.passed = limit
          overdue.append((id, running.operation))
        } else {
          next = min(next ?? limit.time, limit.time)
        }
      }
      return (overdue, next)
    }
    for (id, operation) in overdue {
      logger.warning("job \(id): its time is over, and it is asked to stop", metadata: ["job": "\(id)"])
      operation.cancel()
    }
    return next
  }

  /// What an operation's outcome means for its job, when it was stopped because its time was over.
  func outcome(_ outcome: JobOutcome, passed limit: QueueState.Limit?) -> JobOutcome {
    guard let limit else { return outcome }
    switch outcome {
    case .cancelled(let progress), .interrupted(let progress): return .failed(limit.failure, progress)
    case .completed, .failed: return outcome
    }
  }

  private static func text(_ seconds: TimeInterval) -> String {
    seconds < 120 ? "\(seconds.formatted()) s" : Duration.seconds(seconds).formatted(.time(pattern: .hourMinuteSecond))
  }
}
