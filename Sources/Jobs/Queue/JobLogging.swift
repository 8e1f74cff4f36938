// A job's story in the log is what the ledger records of it, step by step, as soon as that is on the disk. Each line says
// by itself which job it is about, and carries the job's lane, store, entity and kind, so that it is found by any of them.

import Foundation
import Logging

extension Logger {
  /// Says what has happened to a job.
  func log(_ step: JobTransition, of job: Job) {
    log(level: step.level(of: job), "\(step.words(of: job))", metadata: step.metadata(of: job))
  }

  /// Says how far a job is that runs.
  func logProgress(of job: Job) {
    debug(
      "job \(job.id): \([job.progress.phase, job.progress.words].compactMap { $0 }.joined(separator: ", "))",
      metadata: job.logMetadata)
  }
}

extension JobTransition {
  /// How serious it is for the operator of the daemon.
  fileprivate func level(of job: Job) -> Logger.Level {
    switch JobLogEvent(self) {
    case .discarded: .error
    case .retryable: .warning
    case .cancelled, .rescued: .notice
    case .completed: job.progress.rejected > 0 ? .notice : .info
    case .submitted, .started, nil: .info
    }
  }

  /// `job 12: completed in 1.2 s: 1000 records, 980 inserted, 20 rejected`
  fileprivate func words(of job: Job) -> String {
    let who = by.map { reason.contains($0) ? "" : " (\($0))" } ?? ""
    switch JobLogEvent(self) {
    case .submitted: return "job \(job.id): handed in by \(job.submittedBy): \(job.work)" + waiting
    case .started: return "job \(job.id): running, \(reason)"
    case .completed:
      let facts = ([reason == "done" ? nil : reason] + [job.progress.words]).compactMap { $0 }
      return "job \(job.id): completed\(job.duration)" + (facts.isEmpty ? "" : ": " + facts.joined(separator: "; "))
    case .retryable:
      let next = job.availableAt.map { ", to be tried again at \($0.formatted(.iso8601))" } ?? ""
      return "job \(job.id): failed in attempt \(job.attempt) of \(job.maxAttempts)\(next): \(reason)"
    case .rescued: return "job \(job.id): \(to.rawValue) again: \(reason)\(who)"
    case .discarded, .cancelled, nil:
      let isSaid = from == to || reason.hasPrefix(to.rawValue)
      return "job \(job.id): \(isSaid ? "" : to.rawValue + ": ")\(reason)\(who)"
    }
  }

  /// `; waits for its file`, as the ledger has it behind `submitted`.
  private var waiting: String {
    reason.hasPrefix("submitted") ? String(reason.dropFirst("submitted".count)) : "; " + reason
  }

  fileprivate func metadata(of job: Job) -> Logger.Metadata {
    var metadata = job.logMetadata
    metadata["state"] = "\(to.rawValue)"
    if let event = JobLogEvent(self) {
      metadata[JobLogEvent.key] = "\(event.rawValue)"
      if let code = job.failureCode, event == .retryable || event == .discarded { metadata["code"] = "\(code)" }
    }
    return metadata
  }
}

extension Job {
  /// What lines about the job carry.
  var logMetadata: Logger.Metadata {
    var metadata: Logger.Metadata = ["job": "\(id)", "kind": "\(kind)", "lane": "\(lane)"]
    if let store { metadata["store"] = "\(store)" }
    if let entity { metadata["entity"] = "\(entity)" }
    if let recipe { metadata["recipe"] = "\(recipe)" }
    return metadata
  }

  /// `import of Person from people.csv`
  fileprivate var work: String {
    kind + (entity.map { " of \($0)" } ?? "") + (source.map { " from \($0)" } ?? "")
  }

  /// ` in 1.2 s`
  fileprivate var duration: String {
    guard let startedAt, let endedAt else { return "" }
    let tenths = Int((max(0, endedAt.timeIntervalSince(startedAt)) * 10).rounded())
    return " in \(tenths / 10).\(tenths % 10) s"
  }
}

extension JobProgress {
  /// `1000 records, 980 inserted, 20 rejected`; nil where nothing was worked through.
  fileprivate var words: String? {
    guard records > 0 else { return nil }
    let numbers = [
      (inserted, "inserted"), (updated, "updated"), (unchanged, "unchanged"), (deleted, "deleted"),
      (skipped, "skipped"),
      (rejected, "rejected"),
    ]
    return (["\(records) \(records == 1 ? "record" : "records")"] + numbers.filter { $0.0 > 0 }.map { "\($0) \($1)" })
      .joined(separator: ", ")
  }
}

extension Logger.Metadata {
  /// With more of it.
  func adding(_ more: Logger.Metadata) -> Logger.Metadata { merging(more) { $1 } }
}

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
  init?(_ step: JobTransition) {
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
