import Foundation
import ManagedObjects

extension JobLedger {
  /// Jobs that are due and change in one transaction, at most.
  private static let dueTogether = 256

  /// Makes available what waited for a time that has come, on the ledger's queue, where the caller is.
  /// - Returns: when to look again: at once if there was more than one transaction should hold; nil if nothing waits.
  func promoteDue() throws -> Date? {
    try changeDue(by: .availableAt, \.availableAt) { turn, job in
      let reason =
        job.jobState == .retryable ? "the wait for attempt \(job.attempt + 1) is over" : "its time has come"
      try turn.apply(.due, to: job, reason: reason, by: nil)
    }
  }

  /// Makes retries available whose wait is longer than any failure has a job wait: the clock was set back. On the ledger's
  /// queue, where the caller is.
  func endOverlongWaits() throws {
    let backoff = backoff.withLock { $0 }
    // From this attempt on the wait doesn't grow any more.
    var last = 1
    while backoff.delay(afterAttempt: last + 1, random: 1) > backoff.delay(afterAttempt: last, random: 1) { last += 1 }
    for attempt in 1...last {
      let isThis = FetchPredicate.comparison(
        .path(JobRecord.Key.attempt.name), attempt == last ? .greaterOrEqual : .equal, .constant(.int(Int64(attempt))))
      var count = Self.dueTogether
      // Who was changed isn't found again.
      while count == Self.dueTogether {
        count = try turn { turn in
          let latest = turn.now.addingTimeInterval(backoff.delay(afterAttempt: attempt, random: 1))
          let jobs = try turn.context.fetch(
            FetchRequest<JobRecord>(
              entityName: QueueModel.job,
              predicate: .comparison(.path(JobRecord.Key.availableAt.name), .greater, .constant(.date(latest)))
                && .equal(JobRecord.Key.state.name, .string(JobState.retryable.rawValue)) && isThis,
              fetchLimit: Self.dueTogether))
          for job in jobs {
            try turn.apply(.due, to: job, reason: "the clock was set back, and it waits no longer", by: nil)
          }
          return jobs.count
        }
      }
    }
  }

  /// Discards what waits past its deadline, on the ledger's queue, where the caller is.
  /// - Returns: when to look again; nil if nothing that waits has a deadline.
  func expireDue() throws -> Date? {
    try changeDue(by: .expiresAt, \.expiresAt) { turn, job in
      guard job.jobState?.isEnded == false, !turn.hasBegun(job) else { return }
      try turn.apply(.expired, to: job, reason: "its deadline passed before it ran", by: nil)
      job.failureCode = "deadline"
    }
  }

  /// Changes the jobs whose time has come, those first that were due first.
  /// - Returns: when the next are due; now if there may be more.
  private func changeDue(
    by key: JobRecord.Key, _ time: (JobRecord) -> Date?, _ change: (LedgerTurn, JobRecord) throws -> Void
  ) throws -> Date? {
    func request(_ predicate: FetchPredicate, limit: Int) -> FetchRequest<JobRecord> {
      FetchRequest(
        entityName: QueueModel.job, predicate: predicate, sortDescriptors: [FetchSortDescriptor(key.name)],
        fetchLimit: limit)
    }
    let limit = Self.dueTogether
    let (count, now) = try turn { turn in
      let due = FetchPredicate.comparison(.path(key.name), .lessOrEqual, .constant(.date(turn.now)))
      let jobs = try turn.context.fetch(request(due, limit: limit))
      for job in jobs { try change(turn, job) }
      return (jobs.count, turn.now)
    }
    if count == limit { return now }
    return try context.fetch(request(.notEqual(key.name, .null), limit: 1)).first.flatMap(time)
  }
}

extension JobLedger {
  /// Jobs removed in one transaction, at most.
  static let prunedTogether = 256

  /// Removes up to `limit` jobs of a state, those first that ended first, on the ledger's queue, where the caller is.
  /// - Parameter busy: jobs that stay, for something is still done about them. So do those whose entries may be met again.
  /// - Returns: how many there were, with those that stay, and how many were removed.
  func prune(
    _ state: JobState, endedBefore time: Date, limit: Int, busy: Set<Int64>
  ) throws -> (found: Int, removed: Int) {
    // Where others work, too, one of them prunes at a time: the jobs of its host, of hosts where no daemon works, and of no host.
    let others = try otherHosts()
    return try turn { turn in
      if let daemon, try !daemon.lock("prune", waits: false) { return (0, 0) }
      var inState = FetchPredicate.equal(JobRecord.Key.state.name, .string(state.rawValue))
      if !others.isEmpty {
        let host = JobRecord.Key.host.name
        inState =
          inState && (.equal(host, .null) || .not(.isIn(host, others.sorted().map { Value.string($0) })))
      }
      let past = FetchPredicate.comparison(.path(JobRecord.Key.endedAt.name), .lessOrEqual, .constant(.date(time)))
      let jobs = try turn.context.fetch(Self.ended(inState && past, limit: limit))
      let removed = jobs.filter { !busy.contains($0.objectID.number) && $0.origin?.endsWithArrival != true }
      for job in removed { try turn.remove(job) }
      return (jobs.count, removed.count)
    }
  }

  /// Of the jobs of a state, the times at which the first of them ended, in order. On the ledger's queue.
  func firstEnds(of state: JobState, limit: Int) throws -> [Date] {
    let inState = FetchPredicate.equal(JobRecord.Key.state.name, .string(state.rawValue))
    // As the index `ended` says it.
    let hasEnded = FetchPredicate.notEqual(JobRecord.Key.endedAt.name, .null)
    return try context.fetch(Self.ended(inState && hasEnded, limit: limit)).compactMap(\.endedAt)
  }

  private static func ended(_ predicate: FetchPredicate, limit: Int) -> FetchRequest<JobRecord> {
    FetchRequest(
      entityName: QueueModel.job, predicate: predicate,
      sortDescriptors: [FetchSortDescriptor(JobRecord.Key.endedAt.name), FetchSortDescriptor("SELF")], fetchLimit: limit
    )
  }
}
