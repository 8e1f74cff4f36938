import Foundation
import ManagedObjects

extension JobLedger {
  /// Jobs promoted in one transaction, at most.
  private static let promotedTogether = 256

  /// Makes available what waited for a time that has come, on the ledger's queue, where the caller is.
  /// - Returns: when to look again: at once if there was more than one transaction should hold; nil if nothing waits.
  func promoteDue() throws -> Date? {
    let limit = Self.promotedTogether
    let promoted = try turn { turn in
      let due = FetchPredicate.comparison(
        .path(JobRecord.Key.availableAt.name), .lessOrEqual, .constant(.date(turn.now)))
      let jobs = try turn.context.fetch(Self.waiting(due, limit: limit))
      for job in jobs {
        let reason =
          job.jobState == .retryable ? "the wait for attempt \(job.attempt + 1) is over" : "its time has come"
        try turn.apply(.due, to: job, reason: reason, by: nil)
      }
      return (number: jobs.count, now: turn.now)
    }
    if promoted.number == limit { return promoted.now }
    let next = try context.fetch(Self.waiting(.notEqual(JobRecord.Key.availableAt.name, .null), limit: 1))
    return next.first?.availableAt
  }

  private static func waiting(_ predicate: FetchPredicate, limit: Int) -> FetchRequest<JobRecord> {
    FetchRequest(
      entityName: QueueModel.job, predicate: predicate,
      sortDescriptors: [FetchSortDescriptor(JobRecord.Key.availableAt.name)], fetchLimit: limit)
  }
}

extension JobLedger {
  /// Jobs that expire in one transaction, at most.
  private static let expiredTogether = 256

  /// Discards what waits past its deadline, on the ledger's queue, where the caller is.
  /// - Returns: when to look again; nil if nothing that waits has a deadline.
  func expireDue() throws -> Date? {
    let limit = Self.expiredTogether
    let expired = try turn { turn in
      let past = FetchPredicate.comparison(
        .path(JobRecord.Key.expiresAt.name), .lessOrEqual, .constant(.date(turn.now)))
      let jobs = try turn.context.fetch(Self.expiring(past, limit: limit))
      for job in jobs where job.jobState?.isEnded == false && !turn.hasBegun(job) {
        try turn.apply(.expired, to: job, reason: "its deadline passed before it ran", by: nil)
        job.failureCode = "deadline"
      }
      return (number: jobs.count, now: turn.now)
    }
    if expired.number == limit { return expired.now }
    let next = try context.fetch(Self.expiring(.notEqual(JobRecord.Key.expiresAt.name, .null), limit: 1))
    return next.first?.expiresAt
  }

  private static func expiring(_ predicate: FetchPredicate, limit: Int) -> FetchRequest<JobRecord> {
    FetchRequest(
      entityName: QueueModel.job, predicate: predicate,
      sortDescriptors: [FetchSortDescriptor(JobRecord.Key.expiresAt.name)], fetchLimit: limit)
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
    try turn { turn in
      let inState = FetchPredicate.equal(JobRecord.Key.state.name, .string(state.rawValue))
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
    return try context.fetch(Self.ended(inState, limit: limit)).compactMap(\.endedAt)
  }

  private static func ended(_ predicate: FetchPredicate, limit: Int) -> FetchRequest<JobRecord> {
    FetchRequest(
      entityName: QueueModel.job, predicate: predicate,
      sortDescriptors: [FetchSortDescriptor(JobRecord.Key.endedAt.name), FetchSortDescriptor("SELF")], fetchLimit: limit
    )
  }
}
