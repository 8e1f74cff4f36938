import Foundation

// Requests about one job. Each returns the job once the change is durable, and throws `JobQueueError.noSuchJob`,
// `JobQueueError.notPossible`, what `permission` throws, or the store's error.

extension JobQueue {
  /// Decides whether a job may be changed, by its `submittedBy`; throws to refuse. It is called in the transaction of the
  /// change, so that nothing can come between the decision and the change. It must not wait for anything.
  package typealias Permission = @Sendable (_ submittedBy: String) throws -> Void

  /// Notes a change of a job, in its transaction.
  typealias LedgerNote = @Sendable (LedgerTurn) throws -> Void

  /// Cancels a job. A running job stops at its next batch: it is `running` when this returns, and `cancelled` later.
  package func cancel(_ id: Int64, by who: String, permission: Permission? = nil) async throws -> Job {
    try await change(id, .cancelRequested, reason: "cancelled by \(who)", by: who, permission)
  }

  /// Retries a job that failed, was cancelled or waits for its next attempt. It then has at least one more attempt.
  /// - Throws: ``JobQueueError/unknownLane(_:known:)`` too, for a job that has ended and whose lane was taken away.
  package func retry(_ id: Int64, by who: String, permission: Permission? = nil) async throws -> Job {
    try await retry(id, by: who, permission, note: nil)
  }

  func retry(_ id: Int64, by who: String, _ permission: Permission? = nil, note: LedgerNote?) async throws -> Job {
    let job = try await job(id)
    // Before its file is brought back.
    try permission?(job.submittedBy)
    guard job.state == .cancelled || job.state == .discarded else {
      return try await change(id, .retryRequested, reason: "retried by \(who)", by: who, permission, note: note)
    }
    return try await revive(id, by: who, permission, note)
  }

  /// Brings the file of a job that has ended back, and has the job tried again. Until that is durable nobody else does either,
  /// and the job isn't removed.
  private func revive(
    _ id: Int64, by who: String, _ permission: Permission?, _ note: LedgerNote?
  ) async throws -> Job {
    _ = try await whenEnded(id)
    let isOther = JobQueueError.refused(id: id, why: "is being tried again already")
    guard state.beginReviving(id) else { throw isOther }
    defer { if state.endReviving(id) { pruner.pruneSoon(self) } }
    // A removal that hasn't seen this is over after it.
    await ledger.queue.perform { _ in }
    // Since it had ended, somebody else may have had it tried again.
    guard let job = try await endedJob(id) else { throw isOther }
    guard hasLane(job.lane) else { throw JobQueueError.unknownLane(job.lane, known: lanesNow) }
    if !runsAnywhere(job) { try refuse("retry", ofJobElsewhere: job) }
    do {
      try await delegate?.jobQueue(self, willRetry: job)
    } catch {
      throw JobQueueError.refused(id: id, why: "can't be tried again: \(error)")
    }
    do {
      return try await ledger.change { turn in
        let job = try turn.job(id, permission)
        // It may have been taken away since.
        if job.jobState?.isEnded == true { try turn.check(lane: job.lane) }
        try turn.apply(.retryRequested, to: job, reason: "retried by \(who)", by: who)
        try note?(turn)
        return job
      }
    } catch {
      // Its file is in active/ by now.
      settle(job)
      throw error
    }
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
      try turn.setPriority(of: job, to: priority, by: who)
      return job
    }
  }

  /// Removes a job that has ended, and what is kept of it. Its number isn't used again.
  /// - Throws: ``JobQueueError/refused(id:why:)`` when it hasn't ended.
  package func remove(_ id: Int64, by who: String, permission: Permission? = nil) async throws -> Job {
    try await remove(id, by: who, permission, note: nil)
  }

  func remove(_ id: Int64, by who: String, _ permission: Permission? = nil, note: LedgerNote?) async throws -> Job {
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
      // Its file is in active/, or on its way there or back.
      guard !self.state.settling.contains(id) else {
        throw JobQueueError.refused(id: id, why: "is being tried again")
      }
      let snapshot = try job.snapshot()
      if self.isKeptElsewhere(snapshot) { try self.refuse("remove", ofJobElsewhere: snapshot) }
      try turn.remove(job)
      try note?(turn)
      return { snapshot }
    }
    logger.info("job \(id): removed by \(who)", metadata: job.logMetadata)
    return job
  }

  /// Corrects the progress of a job that has ended, by what its store says.
  package func correct(_ id: Int64, _ progress: JobProgress) async throws {
    _ = try await ledger.change { turn in
      let job = try turn.job(id)
      if job.jobState?.isEnded == true { job.progress = progress }
      return job
    }
  }

  private func change(
    _ id: Int64, _ event: JobEvent, reason: String, by who: String, _ permission: Permission?, note: LedgerNote? = nil
  ) async throws -> Job {
    try await ledger.change { turn in
      let job = try turn.job(id, permission)
      try turn.apply(event, to: job, reason: reason, by: who)
      try note?(turn)
      return job
    }
  }
}

// MARK: Files

// What the spool reports about a job's file. A job with a file may run when the file is in `active/`; that the move is durable,
// even after a loss of power, may be known only later. Until then the job keeps its origin, so that its entry makes no second
// job if it is met again. The job isn't removed either, and when it has ended its file isn't put away and those who wait for
// it wait on, so that changes on the disk keep their order.

extension JobQueue {
  /// Notes that files are in `active/`, so that their jobs may run. A loss of power may still bring their entries back, so the
  /// jobs keep their origins. If this can't be written, ``handOverCompleted(of:by:named:)`` makes up for it.
  /// - Parameter named: returns the name of a job's file there, for the job's number and source.
  ///
  /// Blocks where daemons share the queue and may have each other's files.
  package func filesArrived(of ids: [Int64], by who: String, named: @escaping @Sendable (Int64, String?) -> String) {
    let shared = share(ids, named: named)
    ledger.write({ turn in
      for id in ids {
        try turn.takeFile(of: try turn.job(id), named: named, isOnDisk: false, shared: shared[id], by: who)
      }
      return {}
    }) { [weak self] (result: Result<Void, any Error>) in
      guard case .failure(let error) = result else { return }
      self?.logger.debug("jobs: that files have come couldn't be written", metadata: ["error": "\(error)"])
    }
  }

  /// Notes that entries have left `incoming/` for good and their files are in `active/`. May be called more than once. Of a
  /// job that has ended, the delegate puts the file away.
  ///
  /// On the intake's thread, which may block.
  /// - Returns: the numbers without a job.
  package nonisolated(nonsending) func handOverCompleted(
    of ids: [Int64], by who: String, named: @escaping @Sendable (Int64, String?) -> String
  ) async throws -> [Int64] {
    let shared = share(ids, named: named)
    return try await ledger.write { turn in
      var unknown: [Int64] = []
      for id in ids {
        do {
          try turn.takeFile(of: try turn.job(id), named: named, isOnDisk: true, shared: shared[id], by: who)
        } catch JobQueueError.noSuchJob {
          unknown.append(id)
        }
      }
      let answer = unknown
      return {
        self.files?.forget(ids)
        return answer
      }
    }
  }

  /// Notes that a job's file is in `active/` for good, under that name, as ``handOverCompleted(of:by:named:)`` does.
  package func fileArrived(_ id: Int64, activeName: String?, by who: String) async throws -> Job {
    var shared: SharedFile?
    if files != nil, let activeName {
      shared = await withCheckedContinuation { continuation in
        Self.sending.async { continuation.resume(returning: self.share([id], named: { _, _ in activeName })[id]) }
      }
    }
    let job = try await ledger.change { [shared] turn in
      let job = try turn.job(id)
      try turn.takeFile(
        of: job, named: activeName.map { name in { _, _ in name } }, isOnDisk: true, shared: shared, by: who)
      return job
    }
    files?.forget([id])
    return job
  }

  /// Files that arrive otherwise than by the spool are sent one after the other.
  private static let sending = DispatchQueue(label: "jobs.sending")

  /// Writes the files of jobs that wait for them to the store of a shared queue, where others may have them. One that can't be
  /// written stays this host's, and so does its job. Blocks.
  private func share(_ ids: [Int64], named: (Int64, String?) -> String) -> [Int64: SharedFile] {
    guard let files, environment.sharedFileLimit != nil else { return [:] }
    var shared: [Int64: SharedFile] = [:]
    for id in ids {
      do {
        guard let job = try ledger.readNow(id), !job.state.isEnded, !isElsewhere(job),
          !(job.store.map { isOfThisHost(store: $0) } ?? false)
        else { continue }
        shared[id] = try files.send(job, named(id, job.source))
      } catch {
        logger.warning(
          "job \(id): its file couldn't be written to the queue's database, and only this host has it",
          metadata: ["job": "\(id)", "error": "\(error)"])
      }
    }
    return shared
  }

  /// Lets a job wait for its file again, which isn't in `active/` after a restart. Before ``start()``.
  package func fileLost(_ id: Int64) async throws {
    _ = try await ledger.change { turn in
      let job = try turn.job(id)
      if job.jobState == .running { job.rescues += 1 }
      let reason = job.isCancelRequested ? job.cancelReason : "its file's move was lost; waits for it"
      try turn.apply(.fileLost, to: job, reason: reason, by: "spool")
      return job
    }
  }

  /// Ends a job whose file won't come; a job that needs no file, or no more, continues. A later entry with the same origin
  /// makes a new job.
  package func withdraw(_ id: Int64, reason: String) async throws -> Job {
    try await ledger.change { turn in
      let job = try turn.job(id)
      job.origin = nil
      if job.jobState?.isEnded == true {
        if !job.isAwaitingFile { turn.settle(job) }
      } else if job.isAwaitingFile {
        try turn.apply(.cancelRequested, to: job, reason: reason, by: "spool")
      }
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

  /// Lets a job that hasn't begun run earlier or later.
  /// - Throws: ``JobQueueError/refused(id:why:)``; nothing has changed then.
  func setPriority(of job: JobRecord, to priority: Int, by who: String) throws {
    let id = job.objectID.number
    switch job.jobState {
    case .scheduled, .available, .retryable: break
    case .running: throw JobQueueError.refused(id: id, why: "runs already: its priority doesn't matter any more")
    case .completed, .cancelled, .discarded, nil:
      throw JobQueueError.refused(id: id, why: "has ended: its priority doesn't matter any more")
    }
    guard job.priority != priority else { return }
    let before = job.priority
    job.priority = priority
    try record(job, reason: "priority \(before) made \(priority) by \(who)", by: who)
  }

  fileprivate func takeFile(
    of job: JobRecord, named: ((Int64, String?) -> String)?, isOnDisk: Bool, shared: SharedFile?, by who: String
  ) throws {
    let isOfSpool = job.origin?.endsWithArrival == true
    // Its entry was in a folder of several hosts, and another has taken it over since.
    if isOfSpool, let daemon, daemon.takesSharedEntries, let host = job.host, host != daemon.host { return }
    let wasAwaited = job.isAwaitingFile
    if let shared {
      if wasAwaited, job.jobState?.isEnded == false {
        job.sharedFile = shared
      } else if job.sharedFile == nil {
        // It was cancelled while its file was being written.
        try deleteFiles(of: job.objectID.number, onlySource: false)
      }
    }
    if let named, wasAwaited || (isOfSpool && job.activeName == nil) {
      job.activeName = named(job.objectID.number, job.source)
    }
    if isOnDisk, isOfSpool { job.origin = nil }
    if wasAwaited {
      try apply(.fileArrived, to: job, reason: "its file has arrived", by: who)
      noteArrival(job)
    } else if isOnDisk, isOfSpool, job.jobState?.isEnded == true {
      settle(job)
    }
  }
}
