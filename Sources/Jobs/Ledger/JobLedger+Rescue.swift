// What is `running` in the store when a process starts was run by a process that is gone: the store has one daemon, and
// this one hasn't claimed anything yet. Nothing is concluded from the time that has passed, so a live job is never run
// twice.

import ManagedObjects

extension JobLedger {
  /// Puts back what an earlier process left running, on the ledger's queue, where the caller is. To be called before
  /// the first claim.
  /// - Returns: how many there were.
  func rescue() throws -> Int {
    try turn { turn in
      let running = FetchPredicate.equal(JobSlot.state.name, .string(JobState.running.rawValue))
      let jobs = try turn.context.fetch(FetchRequest<Job>(entityName: QueueModel.job, predicate: running))
      for job in jobs {
        try turn.apply(.rescued, to: job, reason: "the daemon ended while it ran", by: nil)
        job.rescues += 1
      }
      return jobs.count
    }
  }
}
