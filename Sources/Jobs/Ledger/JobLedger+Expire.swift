import Foundation
import ManagedObjects

extension JobLedger {
  /// Jobs that expire in one transaction, at most.
  private static let expiredTogether = 256

  /// Discards what waits past its deadline, on the ledger's queue, where the caller is.
  /// - Returns: when to look again; nil if nothing that waits has a deadline.
  func expireDue() throws -> Date? {
    let limit = Self.expiredTogether
    let expired = try turn { turn in
      let past = FetchPredicate.comparison(.path(JobSlot.expiresAt.name), .lessOrEqual, .constant(.date(turn.now)))
      let jobs = try turn.context.fetch(Self.expiring(past, limit: limit))
      for job in jobs where job.jobState?.isEnded == false && !turn.hasBegun(job) {
        try turn.apply(.expired, to: job, reason: "its deadline passed before it ran", by: nil)
        job.failureCode = "deadline"
      }
      return (number: jobs.count, now: turn.now)
    }
    if expired.number == limit { return expired.now }
    let next = try context.fetch(Self.expiring(.notEqual(JobSlot.expiresAt.name, .null), limit: 1))
    return next.first?.expiresAt
  }

  private static func expiring(_ predicate: FetchPredicate, limit: Int) -> FetchRequest<Job> {
    FetchRequest(
      entityName: QueueModel.job, predicate: predicate,
      sortDescriptors: [FetchSortDescriptor(JobSlot.expiresAt.name)], fetchLimit: limit)
  }
}
