import Foundation
import ManagedObjects

extension JobLedger {
  /// Makes a job of a submission, unless there is one that answers it: of the same spool entry (ever), or with the
  /// same unique key (and not ended).
  func submit(_ submission: JobSubmission) async throws -> JobSnapshot {
    try await write { turn in
      if let known = try turn.existing(for: submission) { return known }
      return try turn.insert(submission)
    }
  }
}

extension LedgerTurn {
  fileprivate func existing(for submission: JobSubmission) throws -> Job? {
    if let identity = submission.spoolIdentity {
      let same = FetchPredicate.equal(JobSlot.spoolIdentity.name, .string(identity))
      if let job = try first(same) { return job }
    }
    guard let key = submission.uniqueKey else { return nil }
    let live = JobState.allCases.filter { !$0.isEnded }.map { Value.string($0.rawValue) }
    return try first(.equal(JobSlot.uniqueKey.name, .string(key)) && .isIn(JobSlot.state.name, live))
  }

  private func first(_ predicate: FetchPredicate) throws -> Job? {
    try context.fetch(FetchRequest<Job>(entityName: QueueModel.job, predicate: predicate, fetchLimit: 1)).first
  }

  fileprivate func insert(_ submission: JobSubmission) throws -> Job {
    let job = try context.insert(Job.self)
    job.kind = submission.kind
    job.lane = submission.lane
    job.priority = submission.priority
    job.store = submission.store
    job.entityName = submission.entity
    job.mode = submission.mode
    job.recipe = submission.recipe
    job.source = submission.source
    job.activeName = submission.activeName
    job.format = submission.format
    job.options = submission.options
    job.tags = submission.tags
    job.uniqueKey = submission.uniqueKey
    job.spoolIdentity = submission.spoolIdentity
    job.submittedBy = submission.submittedBy
    job.maxAttempts = submission.maxAttempts
    job.submittedAt = now
    let event = JobEvent.submitted(
      notBefore: submission.notBefore, isHeld: submission.isHeld, awaitsFile: submission.awaitsFile)
    try apply(event, to: job, reason: submission.reason, by: submission.submittedBy)
    return job
  }
}

extension JobSubmission {
  fileprivate var reason: String {
    if awaitsFile { return "submitted; waits for its file" }
    if isHeld { return "submitted; held" }
    return notBefore == nil ? "submitted" : "submitted; not to run before its time"
  }
}
