import Foundation

// What people ask of a job. Each returns the job once the change is durable, and throws `JobQueueError.noSuchJob`,
// `JobQueueError.notPossible` or the store's error.

extension JobQueue {
  /// Checks whether a job may be changed, by its `submittedBy`; throws if not. It runs in the transaction of the change.
  package typealias Permission = @Sendable (_ submittedBy: String) throws -> Void

  /// Stops a job. One that runs stops at its next batch: it is `running` when this returns, and `cancelled` later.
  package func cancel(
    _ id: Int64, by who: String, permission: Permission? = nil
  ) async throws -> JobSnapshot {
    try await change(id, .cancelRequested, reason: "cancelled by \(who)", by: who, permission)
  }

  /// Tries a job again: one that failed or was cancelled, or one that waits for its next attempt. It has at least one
  /// more attempt then.
  package func retry(
    _ id: Int64, by who: String, permission: Permission? = nil
  ) async throws -> JobSnapshot {
    let job = try await job(id)
    // Before its file is moved back.
    try permission?(job.submittedBy)
    if job.state == .cancelled || job.state == .discarded {
      _ = try await whenEnded(id)
      do {
        try await hooks.revive(job)
      } catch {
        throw JobQueueError.refused(id: id, why: "can't be tried again: \(error)")
      }
    }
    return try await change(id, .retryRequested, reason: "retried by \(who)", by: who, permission)
  }

  /// Holds a job back until it is released.
  package func hold(
    _ id: Int64, by who: String, permission: Permission? = nil
  ) async throws -> JobSnapshot {
    try await change(id, .held, reason: "held by \(who)", by: who, permission)
  }

  /// Lets a job that was held go on.
  package func release(
    _ id: Int64, by who: String, permission: Permission? = nil
  ) async throws -> JobSnapshot {
    try await change(id, .released, reason: "released by \(who)", by: who, permission)
  }

  /// Lets a job that hasn't begun run earlier or later than others of its lane. Higher runs earlier.
  /// - Throws: ``JobQueueError/refused(id:why:)`` when it runs or has ended, ``JobQueueError/invalidSubmission(_:)`` for a
  ///   priority out of bounds.
  package func setPriority(
    _ id: Int64, to priority: Int, by who: String, permission: Permission? = nil
  ) async throws -> JobSnapshot {
    guard Int32(exactly: priority) != nil else {
      throw JobQueueError.invalidSubmission("the priority \(priority) is out of bounds")
    }
    return try await ledger.change { turn in
      let job = try turn.job(id)
      try permission?(job.submittedBy)
      switch job.jobState {
      case .scheduled, .available, .retryable: break
      case .running: throw JobQueueError.refused(id: id, why: "runs already: its priority doesn't matter any more")
      case .completed, .cancelled, .discarded, nil:
        throw JobQueueError.refused(id: id, why: "has ended: its priority doesn't matter any more")
      }
      guard job.priority != priority else { return job }
      let before = job.priority
      job.priority = priority
      try turn.record(job, reason: "priority \(before) made \(priority) by \(who)", by: who)
      return job
    }
  }

  /// Removes a job that has ended, and what is kept of it. Its number isn't used again.
  /// - Throws: ``JobQueueError/refused(id:why:)`` when it hasn't ended.
  package func remove(
    _ id: Int64, by who: String, permission: Permission? = nil
  ) async throws -> JobSnapshot {
    if try await job(id).state.isEnded { _ = try await whenEnded(id) }
    let job = try await ledger.write { turn in
      let job = try turn.job(id)
      try permission?(job.submittedBy)
      guard let state = job.jobState, state.isEnded else {
        throw JobQueueError.refused(id: id, why: "hasn't ended: cancel it first")
      }
      guard job.origin?.endsWithArrival != true else {
        // Its entry would make another one.
        throw JobQueueError.refused(
          id: id, why: "may still have its entry in the spool: try again when that was looked at")
      }
      let snapshot = try job.snapshot()
      try turn.remove(job)
      return { snapshot }
    }
    logger.info("job \(id): removed by \(who)", metadata: job.logMetadata)
    return job
  }

  private func change(
    _ id: Int64, _ event: JobEvent, reason: String, by who: String, _ permission: Permission?
  ) async throws -> JobSnapshot {
    try await ledger.change { turn in
      let job = try turn.job(id)
      try permission?(job.submittedBy)
      try turn.apply(event, to: job, reason: reason, by: who)
      return job
    }
  }
}
