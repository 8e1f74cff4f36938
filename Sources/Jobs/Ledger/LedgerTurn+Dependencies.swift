// A job that follows others has a row for each. When one of these ends, its rows are settled in the same transaction, so
// that a kill leaves no job waiting for one that has ended. Only jobs that are followed are looked up for.

import ManagedObjects

extension LedgerTurn {
  /// Notes what a new job follows.
  /// - Returns: whether any of these hasn't ended.
  /// - Throws: ``JobQueueError/noSuchJob(_:)``, or ``JobQueueError/invalidSubmission(_:)`` when one has ended otherwise than
  ///   the new job wants.
  func follow(_ dependencies: [JobDependency], by job: Job) throws -> Bool {
    var isWaiting = false
    for dependency in dependencies {
      let (followed, hasEnded) = try followed(by: dependency)
      let row = try context.insert(JobDependencyRow.self)
      row.on = dependency.job
      row.condition = dependency.condition
      row.isSettled = hasEnded
      row.job = job
      if !hasEnded {
        isWaiting = true
        if !followed.isFollowed { followed.isFollowed = true }
      }
    }
    return isWaiting
  }

  /// The job that a new one is to follow, and whether it has ended.
  func followed(by dependency: JobDependency) throws -> (job: Job, hasEnded: Bool) {
    let followed = try self.job(dependency.job)
    let hasEnded = followed.jobState?.isEnded ?? false
    if hasEnded, dependency.condition == .succeeded, followed.jobState != .completed {
      throw JobQueueError.invalidSubmission(
        "job \(dependency.job), which it is to follow, is \(followed.jobState?.rawValue ?? "unknown"): retry that first"
      )
    }
    return (followed, hasEnded)
  }

  /// Lets those go on that waited for a job, which has ended, or cancels them.
  func settleFollowers(of followed: Job) throws {
    let number = followed.objectID.number
    let state = followed.jobState ?? .discarded
    for row in try rows(.equal(JobDependencySlot.on.name, .int(number))) where !row.isSettled {
      row.isSettled = true
      guard let job = row.job, job.isAwaitingJobs else { continue }
      if row.condition == .succeeded, state != .completed {
        let reason = "job \(number), which it was to follow, was \(state == .cancelled ? "cancelled" : "discarded")"
        try apply(.dependencyFailed, to: job, reason: reason, by: nil)
      } else if try rows(.equal(JobDependencySlot.job.name, .object(job.objectID))).allSatisfy(\.isSettled) {
        try apply(.dependenciesMet, to: job, reason: "job \(number), which it follows, has ended", by: nil)
      }
    }
  }

  private func rows(_ predicate: FetchPredicate) throws -> [JobDependencyRow] {
    try context.fetch(FetchRequest<JobDependencyRow>(entityName: QueueModel.dependency, predicate: predicate))
  }
}
