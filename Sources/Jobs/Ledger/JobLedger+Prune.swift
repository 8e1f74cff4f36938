import Foundation
import ManagedObjects

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
      let inState = FetchPredicate.equal(JobSlot.state.name, .string(state.rawValue))
      let past = FetchPredicate.comparison(.path(JobSlot.endedAt.name), .lessOrEqual, .constant(.date(time)))
      let jobs = try turn.context.fetch(Self.ended(inState && past, limit: limit))
      let removed = jobs.filter { !busy.contains($0.objectID.number) && $0.origin?.endsWithArrival != true }
      for job in removed { try turn.remove(job) }
      return (jobs.count, removed.count)
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
