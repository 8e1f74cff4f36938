// A claim takes what stands first in the index `claim`: the highest priority, and of one priority the lowest number.
// It reads no further than it takes, so that it costs the same with ten jobs waiting and with a million (rule 9).

import ManagedObjects

extension JobLedger {
  /// Claims up to `limit` jobs of a lane, on the ledger's queue, where the caller is.
  /// - Returns: how many there were.
  func claim(lane: String, limit: Int) throws -> Int {
    try turn { try $0.claim(lane: lane, limit: limit) }
  }
}

extension LedgerTurn {
  /// Claims up to `limit` of the jobs that were available in the lane before this turn.
  /// - Returns: how many there were.
  func claim(lane: String, limit: Int) throws -> Int {
    let available =
      FetchPredicate.equal(JobSlot.lane.name, .string(lane))
      && .equal(JobSlot.state.name, .string(JobState.available.rawValue))
    // With pending changes a context has to fetch everything that matches, and cut in memory.
    let request = FetchRequest<Job>(
      entityName: QueueModel.job, predicate: available,
      sortDescriptors: [FetchSortDescriptor(JobSlot.priority.name, ascending: false), FetchSortDescriptor("SELF")],
      fetchLimit: limit, includesPendingChanges: false)
    let jobs = try context.fetch(request).filter { $0.jobState == .available }
    for job in jobs {
      try apply(.claimed, to: job, reason: "attempt \(job.attempt + 1) of \(job.maxAttempts)", by: nil)
    }
    return jobs.count
  }
}
