import Foundation
import ManagedObjects

extension Job {
  /// The job as it stands now, without its transitions.
  /// - Throws: ``JobQueueError/unreadable(id:what:)`` when the store holds what this version can't have written.
  func snapshot() throws -> JobSnapshot {
    let id = objectID.number
    guard let state = jobState else { throw JobQueueError.unreadable(id: id, what: "state") }
    return JobSnapshot(
      id: id, kind: kind, lane: lane, state: state, priority: priority, store: store, entity: entityName, mode: mode,
      recipe: recipe, source: source, activeName: activeName, format: format, options: options, tags: tags,
      submittedBy: submittedBy, uniqueKey: uniqueKey, origin: origin, submittedAt: submittedAt,
      notBefore: notBefore, availableAt: availableAt, startedAt: startedAt, endedAt: endedAt, attempt: attempt,
      maxAttempts: maxAttempts, rescues: rescues, isHeld: isHeld, isAwaitingFile: isAwaitingFile,
      isAwaitingJobs: isAwaitingJobs, isCancelRequested: isCancelRequested, timeout: timeout, deadline: deadline,
      batch: batch, reason: reason, failureCode: failureCode, note: note, progress: progress)
  }
}

extension JobTransition {
  /// The step, or nil when the store holds what this version can't have written.
  func snapshot() -> JobSnapshot.Transition? {
    guard let at, let toState else { return nil }
    return JobSnapshot.Transition(at: at, from: fromState, to: toState, reason: reason, by: requestedBy)
  }
}
