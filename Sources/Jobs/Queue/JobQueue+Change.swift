import Foundation

// Requests about one job. Each returns the job once the change is durable, and throws `JobQueueError.noSuchJob`,
// `JobQueueError.notPossible`, what `permission` throws, or the store's error.

extension JobQueue {
  /// Decides whether a job may be changed, by its `submittedBy`; throws to refuse. It is called in the transaction of the
  /// change, so that nothing can come between the decision and the change. It must not wait for anything.
  package typealias Permission = @Sendable (_ submittedBy: String) throws -> Void

  /// Cancels a job. A running job stops at its next batch: it is `running` when this returns, and `cancelled` later.
  package func cancel(_ id: Int64, by who: String, permission: Permission? = nil) async throws -> Job {
    try await change(id, .cancelRequested, reason: "cancelled by \(who)", by: who, permission)
  }

  /// Retries a job that failed, was cancelled or waits for its next attempt. It then has at least one more attempt.
  package func retry(_ id: Int64, by who: String, permission: Permission? = nil) async throws -> Job {
    let job = try await job(id)
    // Before its file is brought back.
    try permission?(job.submittedBy)
    if job.state == .cancelled || job.state == .discarded {
      _ = try await whenEnded(id)
      do {
        try await delegate?.jobQueue(self, willRetry: job)
      } catch {
        throw JobQueueError.refused(id: id, why: "can't be tried again: \(error)")
      }
    }
    return try await change(id, .retryRequested, reason: "retried by \(who)", by: who, permission)
  }

  /// Holds a job back until it is released.
  package func hold(_ id: Int64, by who: String, permission: Permission? = nil) async throws -> Job {
    try await change(id, .held, reason: "held by \(who)", by: who, permission)
  }

  /// Lets a job that was held go on.
  package func release(_ id: Int64, by who: String, permission: Permission? = nil) async throws -> Job {
    try await change(id, .released, reason: "released by \(who)", by: who, permission)
  }

  /// Lets a job that hasn't begun run earlier or later than others of its lane. Higher runs earlier.
  /// - Throws: ``JobQueueError/refused(id:why:)`` when it runs or has ended, ``JobQueueError/invalidSubmission(_:)`` for a
  ///   priority out of bounds.
  package func setPriority(
    _ id: Int64, to priority: Int, by who: String, permission: Permission? = nil
  ) async throws -> Job {
    guard Int32(exactly: priority) != nil else {
      throw JobQueueError.invalidSubmission("the priority \(priority) is out of bounds")
    }
    return try await ledger.change { turn in
      let job = try turn.job(id, permission)
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
  package func remove(_ id: Int64, by who: String, permission: Permission? = nil) async throws -> Job {
    let known = try await job(id)
    // Before waiting for its file to be put away.
    try permission?(known.submittedBy)
    if known.state.isEnded { _ = try await whenEnded(id) }
    let job = try await ledger.write { turn in
      let job = try turn.job(id, permission)
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
  ) async throws -> Job {
    try await ledger.change { turn in
      let job = try turn.job(id, permission)
      try turn.apply(event, to: job, reason: reason, by: who)
      return job
    }
  }
}

extension LedgerTurn {
  /// The job of that number, if it may be changed.
  fileprivate func job(_ id: Int64, _ permission: JobQueue.Permission?) throws -> JobRecord {
    let job = try job(id)
    try permission?(job.submittedBy)
    return job
  }
}

extension JobQueue {
  /// The most jobs that are changed at a time: they share transactions.
  private static let together = 200

  /// Changes all jobs that pass a filter, ignoring its `limit` and `offset`, newest first. A job that can't be changed in its
  /// state is left as it is and reported.
  /// - Throws: the store's error; what was changed before stays.
  package func change(_ filter: JobFilter, _ change: BulkChange, by who: String) async throws -> JobChangeResult {
    var page = filter
    page.limit = Self.together
    page.offset = 0
    page.newestFirst = true
    var result = JobChangeResult()
    while true {
      let jobs = try await jobs(page)
      guard let last = jobs.last else { return result }
      page.before = last.id
      try await withThrowingTaskGroup(of: JobChangeResult.Refusal?.self) { group in
        for job in jobs {
          group.addTask {
            do {
              try await self.change(job.id, change, by: who)
              return nil
            } catch let error as JobQueueError {
              return JobChangeResult.Refusal(job: job.id, reason: error.description)
            }
          }
        }
        for try await refusal in group {
          guard let refusal else {
            result.changed += 1
            continue
          }
          result.refused += 1
          if result.refusals.count < JobChangeResult.mostRefusals { result.refusals.append(refusal) }
        }
      }
    }
  }

  private func change(_ id: Int64, _ change: BulkChange, by who: String) async throws {
    switch change {
    case .cancel: _ = try await cancel(id, by: who)
    case .retry: _ = try await retry(id, by: who)
    case .hold: _ = try await hold(id, by: who)
    case .release: _ = try await release(id, by: who)
    case .priority(let priority): _ = try await setPriority(id, to: priority, by: who)
    case .remove: _ = try await remove(id, by: who)
    }
  }
}
