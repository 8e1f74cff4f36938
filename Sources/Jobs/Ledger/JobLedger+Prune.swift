import Foundation
import ManagedObjects

extension JobLedger {
  /// Jobs removed in one transaction, at most.
  static let prunedTogether = 256

  /// Removes up to `limit` jobs of a state, those first that ended first, on the ledger's queue, where the caller is.
  /// - Parameter busy: jobs that stay, for something is still done about them.
  /// - Returns: how many there were, with those that stay.
  func prune(_ state: JobState, endedBefore time: Date, limit: Int, busy: Set<Int64>) throws -> Int {
    try turn { turn in
      let inState = FetchPredicate.equal(JobSlot.state.name, .string(state.rawValue))
      let past = FetchPredicate.comparison(.path(JobSlot.endedAt.name), .lessOrEqual, .constant(.date(time)))
      let jobs = try turn.context.fetch(Self.ended(inState && past, limit: limit))
      for job in jobs where !busy.contains(job.objectID.number) { try turn.remove(job) }
      return jobs.count
    }
  }

  /// Of the jobs of a state, the times at which the first of them ended, in order. On the ledger's queue.
  func firstEnds(of state: JobState, limit: Int) throws -> [Date] {
    let inState = FetchPredicate.equal(JobSlot.state.name, .string(state.rawValue))
    return try context.fetch(Self.ended(inState, limit: limit)).compactMap(\.endedAt)
  }

  private static func ended(_ predicate: FetchPredicate, limit: Int) -> FetchRequest<Job> {
    FetchRequest(
      entityName: QueueModel.job, predicate: predicate,
      sortDescriptors: [FetchSortDescriptor(JobSlot.endedAt.name), FetchSortDescriptor("SELF")], fetchLimit: limit)
  }
}
