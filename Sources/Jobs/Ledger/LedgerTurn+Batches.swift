// A batch counts its jobs in the transactions that end them, so that its callback runs once, whenever the daemon is
// killed.

import Foundation
import ManagedObjects

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

  /// A batch that takes jobs.
  /// - Throws: ``JobQueueError/invalidSubmission(_:)`` when all of its jobs have ended.
  func openBatch(_ number: Int64) throws -> JobBatch {
    let batch = try batch(number)
    guard batch.pending > 0 else {
      throw JobQueueError.invalidSubmission("all jobs of batch \(number) have ended: submit it without, or a new batch")
    }
    return batch
  }

  /// Counts a job of a batch that has ended, or that somebody tries again.
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
