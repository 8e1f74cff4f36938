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
        .path(JobSlot.availableAt.name), .lessOrEqual, .constant(.date(turn.now)))
      let jobs = try turn.context.fetch(Self.waiting(due, limit: limit))
      for job in jobs {
        let reason =
          job.jobState == .retryable ? "the wait for attempt \(job.attempt + 1) is over" : "its time has come"
        try turn.apply(.due, to: job, reason: reason, by: nil)
      }
      return (number: jobs.count, now: turn.now)
    }
    if promoted.number == limit { return promoted.now }
    let next = try context.fetch(Self.waiting(.notEqual(JobSlot.availableAt.name, .null), limit: 1))
    return next.first?.availableAt
  }

  private static func waiting(_ predicate: FetchPredicate, limit: Int) -> FetchRequest<Job> {
    FetchRequest(
      entityName: QueueModel.job, predicate: predicate,
      sortDescriptors: [FetchSortDescriptor(JobSlot.availableAt.name)], fetchLimit: limit)
  }
}
