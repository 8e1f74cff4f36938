import Foundation
import ManagedObjects

extension JobLedger {
  /// Makes all jobs of a batch, in an order in which each comes after those that it follows.
  func submit(_ batch: JobBatchSubmission, inOrder order: [Int]) async throws -> JobBatchSnapshot {
    try await write { turn in
      let made = try turn.insert(batch, inOrder: order)
      return { try made.batch.snapshot(jobs: made.jobs.map(\.objectID.number)) }
    }
  }

  /// A batch with the numbers of its first jobs and the sum of their progress, read in the main context.
  func batch(_ number: Int64, jobs limit: Int) async throws -> JobBatchSnapshot {
    let context = mainContext
    return try await context.perform {
      let id = try context.persistentStoreCoordinator.managedObjectID(entity: QueueModel.batch, number: number)
      let request = FetchRequest<JobBatch>(
        entityName: QueueModel.batch, predicate: .comparison(.evaluatedObject, .equal, .constant(.object(id))),
        fetchLimit: 1)
      guard let batch = try context.fetch(request).first else { throw JobQueueError.noSuchBatch(number) }
      let members = FetchRequest<Job>(
        entityName: QueueModel.job, predicate: .equal(JobSlot.batch.name, .int(number)),
        sortDescriptors: [FetchSortDescriptor("SELF")], fetchLimit: limit)
      let jobs = try context.fetch(members)
      var snapshot = try batch.snapshot(jobs: jobs.map(\.objectID.number))
      for job in jobs { snapshot.progress.add(job.progress) }
      return snapshot
    }
  }
}

extension LedgerTurn {
  fileprivate func insert(_ submission: JobBatchSubmission, inOrder order: [Int]) throws -> (
    batch: JobBatch, jobs: [Job]
  ) {
    let batch = try context.insert(JobBatch.self)
    batch.name = submission.name
    batch.submittedBy = submission.submittedBy
    batch.submittedAt = now
    batch.condition = submission.condition
    // Jobs join a batch that waits for some.
    batch.pending = 1
    try context.obtainPermanentIDs(for: [batch])
    let number = batch.objectID.number
    var numbers: [String: Int64] = [:]
    var jobs = [Job?](repeating: nil, count: submission.members.count)
    for index in order {
      let member = submission.members[index]
      let follows = member.after.sorted { $0.key < $1.key }.compactMap { name, condition in
        numbers[name].map { JobDependency(job: $0, condition: condition) }
      }
      var wanted = member.submission
      wanted.batch = number
      let job = try insert(wanted, follows: follows)
      // Others are to follow it before it is saved.
      try context.obtainPermanentIDs(for: [job])
      if let name = member.name { numbers[name] = job.objectID.number }
      jobs[index] = job
    }
    batch.pending -= 1
    if let callback = submission.callback {
      let job = try insert(callback, awaitsBatch: true)
      try context.obtainPermanentIDs(for: [job])
      batch.callback = job.objectID.number
    }
    return (batch, jobs.compactMap { $0 })
  }
}

extension JobBatch {
  fileprivate func snapshot(jobs: [Int64]) throws -> JobBatchSnapshot {
    JobBatchSnapshot(
      id: objectID.number, name: name, submittedBy: submittedBy, submittedAt: submittedAt, endedAt: endedAt,
      total: total, pending: pending, failed: failed, callback: callback, condition: condition,
      progress: JobProgress(), jobs: jobs)
  }
}

extension JobProgress {
  fileprivate mutating func add(_ other: JobProgress) {
    bytesDone += other.bytesDone
    bytesTotal += other.bytesTotal
    records += other.records
    inserted += other.inserted
    updated += other.updated
    unchanged += other.unchanged
    deleted += other.deleted
    rejected += other.rejected
    skipped += other.skipped
  }
}
