// A change of all jobs that match is a job. It goes through them by falling numbers, a page at a time, from its own number
// on: it changes neither itself nor what is submitted later, and ends although others are submitted all the time.
//
// Rule 4 (ARCHITECTURE.md): each transaction that changes a job also notes that in the checkpoint of the job that changes it.
// A kill leaves both or neither.
//
// Such jobs have a lane of their own, which no configuration names and nobody pauses. So the cancellation of a million jobs
// waits for none of them.

import Foundation

extension JobQueue {
  /// Jobs that are looked at together.
  private static let together = 200
  /// Bytes of options, which are in memory for each job that is listed.
  private static let longestOptions = 128 << 10
  /// Up to how many jobs are counted beforehand, for the progress.
  private static let mostCounted = 50_000

  /// Makes a job that changes all jobs that match and are there by then. Durable when this returns.
  /// - Throws: as ``submit(_:)``.
  package func submit(_ change: ChangeOptions, by who: String) async throws -> Job {
    if let priority = change.priority, Int32(exactly: priority) == nil {
      throw JobQueueError.invalidSubmission("the priority \(priority) is out of bounds")
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    var submission = JobSubmission(
      kind: ChangeOperation.kind, lane: LaneConfiguration.changesName, submittedBy: who)
    let options = try encoder.encode(change)
    guard options.count <= Self.longestOptions else {
      throw JobQueueError.invalidSubmission(
        "its filter has \(options.count) bytes; \(Self.longestOptions) are possible")
    }
    submission.resolvedOptions = String(decoding: options, as: UTF8.self)
    return try await submit(submission)
  }

  /// Does the work of a job that changes others, from where it was left.
  /// - Throws: the store's error; what was changed before stays.
  func changeJobs(for operation: ChangeOperation) async throws -> JobOutcome {
    let job = operation.job
    let change = try ChangeOptions.read(job.options)
    var checkpoint = try await ledger.checkpoint(of: job.id)
    let done = Int64(checkpoint.result.changed + checkpoint.result.refused)
    var page = change.page(before: checkpoint.before ?? job.id, limit: Self.together)
    let rest = try await ledger.count(page, upTo: Self.mostCounted)
    let total = rest < Self.mostCounted ? done + Int64(rest) : 0
    operation.report(checkpoint.progress(of: total))
    while true {
      if operation.isCancelled { return .cancelled(checkpoint.progress(of: total)) }
      if operation.isDraining { return .interrupted(checkpoint.progress(of: total)) }
      let jobs = try await ledger.numbers(page)
      guard let last = jobs.last else { break }
      do {
        checkpoint = try await self.change(jobs, change, for: job)
      } catch is CancellationError {
        // Files may take long to be moved, so the page isn't waited for. What was changed of it is in the checkpoint.
        checkpoint = try await ledger.checkpoint(of: job.id)
        continue
      }
      page.before = last
      operation.report(checkpoint.progress(of: total))
    }
    return .completed(checkpoint.progress(of: total), note: Self.note(checkpoint.result, change.action))
  }

  private static func note(_ result: JobChangeResult, _ action: JobChange.Action) -> String {
    func jobs(_ number: Int) -> String { number == 1 ? "1 job" : "\(number) jobs" }
    let changed = "\(jobs(result.changed)) \(result.changed == 1 ? "was" : "were") \(action.participle)"
    return result.refused == 0 ? changed : changed + ", and \(result.refused) couldn't be"
  }

  /// Changes a page of jobs, but for those that were changed before a kill.
  private func change(_ jobs: [Int64], _ change: ChangeOptions, for changing: Job) async throws -> ChangeCheckpoint {
    let last = jobs.last ?? 0
    let who = changing.submittedBy
    switch change.action {
    case .cancel, .hold, .release, .priority:
      return try await ledger.write(jobs: jobs.count) { turn in
        var checkpoint = try turn.checkpoint(of: changing)
        var refused: [JobChangeResult.Refusal] = []
        for job in jobs where !checkpoint.done.contains(job) {
          do {
            try turn.change(job, change, by: who)
            checkpoint.note(changed: job)
          } catch let error as JobQueueError {
            refused += try Self.refusal(of: job, error)
          }
        }
        checkpoint.endPage(at: last, refused: refused)
        try turn.write(checkpoint, of: changing)
        let answer = checkpoint
        return { answer }
      }
    case .retry, .remove:
      let done = try await ledger.checkpoint(of: changing.id).done
      let refused = try await withThrowingTaskGroup(of: [JobChangeResult.Refusal].self) { group in
        for job in jobs where !done.contains(job) {
          group.addTask { try await self.change(job, change.action, for: changing, by: who) }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      return try await ledger.write { turn in
        var checkpoint = try turn.checkpoint(of: changing)
        checkpoint.endPage(at: last, refused: refused.sorted { $0.job > $1.job })
        try turn.write(checkpoint, of: changing)
        let answer = checkpoint
        return { answer }
      }
    }
  }

  /// Retries or removes a job, whose files may have to be moved first.
  private func change(
    _ job: Int64, _ action: JobChange.Action, for changing: Job, by who: String
  ) async throws -> [JobChangeResult.Refusal] {
    let note: LedgerNote = { turn in
      var checkpoint = try turn.checkpoint(of: changing)
      checkpoint.note(changed: job)
      try turn.write(checkpoint, of: changing)
    }
    do {
      if action == .retry {
        _ = try await retry(job, by: who, note: note)
      } else {
        _ = try await remove(job, by: who, note: note)
      }
      return []
    } catch let error as JobQueueError {
      return try Self.refusal(of: job, error)
    }
  }

  /// What keeps a job from being changed; nothing for one that was removed in the meantime.
  /// - Throws: an error that is about something else.
  private static func refusal(of id: Int64, _ error: JobQueueError) throws -> [JobChangeResult.Refusal] {
    switch error {
    case .noSuchJob(id): return []
    case .refused(id, _), .notPossible(id, _), .unknownLane, .unreadable(id, _):
      return [.init(job: id, reason: error.description)]
    default: throw error
    }
  }
}

extension JobLedger {
  /// How far a job has come that changes others.
  fileprivate func checkpoint(of id: Int64) async throws -> ChangeCheckpoint {
    try await queue.perform { context in
      try ChangeCheckpoint(LedgerTurn(context: context, now: Date(), backoff: Backoff()).job(id).checkpoint)
    }
  }
}

extension LedgerTurn {
  // The fence of such a job is its own row, which each of its transactions writes.

  fileprivate func checkpoint(of job: Job) throws -> ChangeCheckpoint {
    try ChangeCheckpoint(self.job(job.id, claimedAs: job.claim).checkpoint)
  }

  fileprivate func write(_ checkpoint: ChangeCheckpoint, of job: Job) throws {
    try self.job(job.id, claimedAs: job.claim).checkpoint = checkpoint.text()
  }

  /// Does what needs no file to a job. If it throws a refusal of this job, nothing has changed.
  fileprivate func change(_ id: Int64, _ change: ChangeOptions, by who: String) throws {
    let job = try job(id)
    switch change.action {
    case .cancel: try apply(.cancelRequested, to: job, reason: "cancelled by \(who)", by: who)
    case .hold: try apply(.held, to: job, reason: "held by \(who)", by: who)
    case .release: try apply(.released, to: job, reason: "released by \(who)", by: who)
    case .priority: try setPriority(of: job, to: change.priority ?? 0, by: who)
    case .retry, .remove: break
    }
  }
}

extension JobFilter {
  /// The filter of a selection, but for who handed the jobs in: users' names are the daemon's to know.
  package init(_ selection: JobSelection) {
    self.init(
      states: Set(selection.states), kind: selection.kind, lane: selection.lane, store: selection.store,
      entity: selection.entity, recipe: selection.recipe, uniqueKey: selection.uniqueKey, tag: selection.tag,
      isHeld: selection.isHeld)
    ids = selection.jobs
    batch = selection.batch
    failureCode = selection.error
    source = selection.file
    submittedSince = selection.since
  }
}
