import Foundation
import ManagedObjects

extension JobRecord {
  /// The job as it stands now, without its transitions.
  /// - Throws: ``JobQueueError/unreadable(id:what:)`` when the store holds what this version can't have written.
  func snapshot() throws -> Job {
    let id = objectID.number
    guard let state = jobState else { throw JobQueueError.unreadable(id: id, what: "state") }
    var job = Job(
      id: id, kind: kind, lane: lane, state: state, submittedAt: submittedAt, submittedBy: submittedBy,
      maxAttempts: maxAttempts)
    job.priority = priority
    job.store = store
    job.entity = entityName
    job.mode = mode.flatMap(ImportMode.init)
    job.recipe = recipe
    job.source = source
    job.activeName = activeName
    job.format = format
    job.options = options
    job.tags = tags
    job.uniqueKey = uniqueKey
    job.origin = origin
    job.notBefore = notBefore
    job.availableAt = availableAt
    job.startedAt = startedAt
    job.endedAt = endedAt
    job.attempt = attempt
    job.rescues = rescues
    job.isHeld = isHeld
    job.isAwaitingFile = isAwaitingFile
    job.isAwaitingJobs = isAwaitingJobs
    job.isCancelRequested = isCancelRequested
    job.timeout = timeout
    job.deadline = deadline
    job.batch = batch
    job.reason = reason
    job.failureCode = failureCode
    job.note = note
    job.progress = progress
    return job
  }
}

extension TransitionRecord {
  /// The step, or nil when the store holds what this version can't have written.
  func snapshot() -> JobTransition? {
    guard let at, let toState else { return nil }
    return JobTransition(at: at, from: fromState, to: toState, reason: reason, by: requestedBy)
  }
}
