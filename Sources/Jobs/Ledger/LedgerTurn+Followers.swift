// A job that follows others has a row for each. When one of these ends, its rows are settled in the same transaction, so
// that a kill leaves no job waiting for one that has ended. Only jobs that are followed are looked up for.
//
// A batch counts its jobs in the transactions that end them, so that its callback runs once, whenever the daemon is
// killed.

import Foundation
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

  /// Releases the jobs that waited for a job that has ended, or cancels them.
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

extension LedgerTurn {
  /// The batch of that number.
  /// - Throws: ``JobQueueError/noSuchBatch(_:)``, or the store's error.
  func batch(_ number: Int64) throws -> JobBatch {
    let id = try context.persistentStoreCoordinator.managedObjectID(entity: QueueModel.batch, number: number)
    do {
      guard let batch = try context.existingObject(with: id) as? JobBatch else {
        throw JobQueueError.noSuchBatch(number)
      }
      return batch
    } catch ManagedObjectError.objectNotFound {
      throw JobQueueError.noSuchBatch(number)
    }
  }

  /// Puts a new job into a batch whose jobs haven't all ended.
  func join(_ number: Int64) throws {
    let batch = try openBatch(number)
    batch.total += 1
    batch.pending += 1
    batch.kept += 1
  }

  /// A batch that still accepts jobs.
  /// - Throws: ``JobQueueError/invalidSubmission(_:)`` when all of its jobs have ended.
  func openBatch(_ number: Int64) throws -> JobBatch {
    let batch = try batch(number)
    guard batch.pending > 0 else {
      throw JobQueueError.invalidSubmission("all jobs of batch \(number) have ended: submit it without, or a new batch")
    }
    return batch
  }

  /// Counts a job of a batch that has ended, or is tried again.
  func countInBatch(_ number: Int64, _ job: Job, from: JobState?) throws {
    let batch = try batch(number)
    guard job.jobState?.isEnded == true else {
      // Only one that hadn't succeeded can be tried again.
      batch.pending += 1
      batch.failed -= 1
      batch.endedAt = nil
      return
    }
    batch.pending -= 1
    if job.jobState != .completed { batch.failed += 1 }
    if batch.pending == 0 { try end(batch, number) }
  }

  private func end(_ batch: JobBatch, _ number: Int64) throws {
    batch.endedAt = now
    guard let callback = batch.callback, batch.failed == 0 || batch.condition == .ended else { return }
    let job: Job
    do {
      job = try self.job(callback)
    } catch JobQueueError.noSuchJob {
      return
    }
    guard job.isAwaitingJobs else { return }
    let failures = batch.failed == 0 ? "" : ", \(batch.failed) of them without success"
    let reason = "the \(batch.total) jobs of batch \(number) have ended\(failures)"
    try apply(.dependenciesMet, to: job, reason: reason, by: nil)
  }

  /// A job of a batch is removed; with the last goes the batch.
  func leaveBatch(_ number: Int64) throws {
    let batch: JobBatch
    do {
      batch = try self.batch(number)
    } catch JobQueueError.noSuchBatch {
      return
    }
    batch.kept -= 1
    if batch.kept <= 0 { context.delete(batch) }
  }
}
