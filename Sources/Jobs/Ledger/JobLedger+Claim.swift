// A claim takes what stands first in the index `claim`: the highest priority, and of one priority the lowest number.
// It reads no further than it takes, so that it costs the same with ten jobs waiting and with a million (rule 9).

import ManagedObjects

extension JobLedger {
  /// Claims up to `limit` jobs of a lane, on the ledger's queue, where the caller is.
  /// - Returns: how many there were.
  func claim(lane: String, limit: Int) throws -> Int {
    try turn { turn in
      let available =
        FetchPredicate.equal(JobSlot.lane.name, .string(lane))
        && .equal(JobSlot.state.name, .string(JobState.available.rawValue))
      let request = FetchRequest<Job>(
        entityName: QueueModel.job, predicate: available,
        sortDescriptors: [FetchSortDescriptor(JobSlot.priority.name, ascending: false), FetchSortDescriptor("SELF")],
        fetchLimit: limit)
      let jobs = try turn.context.fetch(request)
      for job in jobs {
        try turn.apply(.claimed, to: job, reason: "attempt \(job.attempt + 1) of \(job.maxAttempts)", by: nil)
      }
      return jobs.count
    }
  }
}
