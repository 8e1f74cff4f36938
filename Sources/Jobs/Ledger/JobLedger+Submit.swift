import Foundation
import ManagedObjects

/// A job, and whether a submission has made it or found it there.
package struct SubmittedJob: Sendable, Equatable {
  package var job: Job
  /// False when it was there: made by the same spool entry, or one that is not to be there twice.
  package var isNew: Bool
}

/// Another daemon has taken an entry away since it was seen, or its sender has.
package struct EntryIsGone: Error, Equatable {}

/// What became of one of many submissions.
package enum JobAnswer: Sendable, Equatable {
  case made(Int64)
  /// There was one that is not to be there twice.
  case known(Int64)
  case refused(JobQueueError)

  /// The job's number.
  /// - Throws: why there is none.
  package var number: Int64 {
    get throws(JobQueueError) {
      switch self {
      case .made(let id), .known(let id): id
      case .refused(let error): throw error
      }
    }
  }

  package var isNew: Bool {
    switch self {
    case .made: true
    case .known, .refused: false
    }
  }
}

extension JobLedger {
  /// Makes jobs of submissions, each unless there is one that answers it, or it can't be made.
  func submit(_ submissions: [JobSubmission]) async throws -> [JobAnswer] {
    try await write(jobs: submissions.count) { turn in
      let results = try submissions.map { try turn.result(of: $0) }
      // New jobs have their numbers when they are saved.
      return {
        results.map { result in
          switch result {
          case .success(let made): made.isNew ? .made(made.job.objectID.number) : .known(made.job.objectID.number)
          case .failure(let error): .refused(error)
          }
        }
      }
    }
  }

  /// Makes a job of a submission, unless there is one that answers it: of the same spool entry (ever), or one that is
  /// not to be there twice.
  func submit(_ submission: JobSubmission) async throws -> SubmittedJob { try await write(Self.body(of: submission)) }

  /// Does that in a turn.
  /// - Parameter isThere: whether the entry that the submission is of is still where others see it; see
  ///   ``JobQueue/receive(_:waits:isThere:)``.
  static func body(
    of submission: JobSubmission, isThere: @escaping @Sendable () throws -> Bool = { true }
  ) -> Body<SubmittedJob> {
    { turn in
      if let known = try turn.existing(for: submission, isThere: isThere) {
        return { SubmittedJob(job: try known.snapshot(), isNew: false) }
      }
      // After the look for its job: who has taken the entry forgets that only when it is gone.
      guard try isThere() else { throw EntryIsGone() }
      let job = try turn.insert(submission)
      return { SubmittedJob(job: try job.snapshot(), isNew: true) }
    }
  }
}

extension LedgerTurn {
  /// The job of one submission among others: what keeps it is found before anything is changed.
  fileprivate func result(
    of submission: JobSubmission
  ) throws -> Result<(job: JobRecord, isNew: Bool), JobQueueError> {
    do {
      if let known = try existing(for: submission) { return .success((known, false)) }
      try check(lane: submission.lane ?? LaneConfiguration.defaultName)
      if let number = submission.batch { _ = try openBatch(number) }
      for dependency in submission.after { _ = try followed(by: dependency) }
    } catch let error as JobQueueError {
      return .failure(error)
    }
    return .success((try insert(submission), true))
  }

  /// The job that answers a submission in place of a new one.
  func existing(for submission: JobSubmission, isThere: () throws -> Bool = { true }) throws -> JobRecord? {
    if let origin = submission.origin {
      if case .spool = origin { try lockEntries() }
      let same = FetchPredicate.equal(JobRecord.Key.origin.name, .string(origin.rawValue))
      if let job = try first(same) {
        try takeOver(job, isThere: isThere)
        return job
      }
    }
    guard let key = submission.uniqueKey else { return nil }
    // Two daemons that look at the same time would both find none.
    if let daemon { _ = try daemon.lock("unique \(key)", waits: true) }
    let states = submission.countedStates.map(\.rawValue).sorted().map { Value.string($0) }
    var wanted: FetchPredicate =
      .equal(JobRecord.Key.uniqueKey.name, .string(key)) && .isIn(JobRecord.Key.state.name, states)
    if let period = submission.uniquePeriod {
      wanted =
        wanted
        && .comparison(
          .path(JobRecord.Key.submittedAt.name), .greater, .constant(.date(now.addingTimeInterval(-period))))
    }
    return try first(wanted)
  }

  private func first(_ predicate: FetchPredicate) throws -> JobRecord? {
    try context.fetch(FetchRequest<JobRecord>(entityName: QueueModel.job, predicate: predicate, fetchLimit: 1)).first
  }

  /// Makes a job.
  /// - Parameters:
  ///   - follows: what it follows beside what the submission says.
  ///   - awaitsBatch: whether it follows a batch.
  func insert(
    _ submission: JobSubmission, follows: [JobDependency] = [], awaitsBatch: Bool = false
  ) throws -> JobRecord {
    let lane = submission.lane ?? LaneConfiguration.defaultName
    try check(lane: lane)
    let job = try context.insert(JobRecord.self)
    try job.take(submission, lane: lane, at: now)
    if let daemon, belongsHere(submission) { job.host = daemon.host }
    if let batch = submission.batch {
      try join(batch)
      job.batch = batch
    }
    let awaitsJobs = try follow(submission.after + follows, by: job) || awaitsBatch
    let waiting = JobWaiting(
      notBefore: submission.notBefore, deadline: submission.deadline, isHeld: submission.isHeld,
      awaitsFile: submission.awaitsFile, awaitsJobs: awaitsJobs)
    try apply(
      .submitted(waiting), to: job, reason: submission.reason(awaitsJobs: awaitsJobs), by: submission.submittedBy)
    noteArrival(job)
    return job
  }
}

extension JobSubmission {
  fileprivate func reason(awaitsJobs: Bool) -> String {
    if awaitsFile { return "submitted; waits for its file" }
    if isHeld { return "submitted; held" }
    if awaitsJobs { return "submitted; waits for the jobs that it follows" }
    return notBefore == nil ? "submitted" : "submitted; not to run before its time"
  }
}

extension JobLedger {
  /// Makes all jobs of a batch, in an order in which each comes after those that it follows.
  func submit(_ batch: BatchSubmission, inOrder order: [Int]) async throws -> Batch {
    try await write { turn in
      let made = try turn.insert(batch, inOrder: order)
      return { try made.batch.snapshot(jobs: made.jobs.map(\.objectID.number)) }
    }
  }

  /// Makes all jobs of a batch, unless there is an unended job of that unique key in another.
  func submit(
    _ batch: BatchSubmission, inOrder order: [Int], key: String
  ) async throws -> (batch: Int64, isNew: Bool) {
    try await write { turn in
      if let known = try turn.existing(for: JobSubmission(uniqueKey: key))?.batch { return { (known, false) } }
      let made = try turn.insert(batch, inOrder: order)
      return { (made.batch.objectID.number, true) }
    }
  }

  /// Batches, the newest first, read on the reader's queue.
  func batches(before: Int64?, limit: Int) async throws -> [Batch] {
    return try await reader.perform { context in
      let coordinator = context.persistentStoreCoordinator
      let bound = try before.map { try coordinator.managedObjectID(entity: QueueModel.batch, number: $0) }
      let request = FetchRequest<BatchRecord>(
        entityName: QueueModel.batch,
        predicate: bound.map { .comparison(.path("SELF"), .less, .constant(.object($0))) },
        sortDescriptors: [FetchSortDescriptor("SELF", ascending: false)], fetchLimit: limit)
      return try context.fetch(request).map { try $0.snapshot(jobs: []) }
    }
  }

  /// A batch with the numbers of its first jobs and the sum of their progress, read on the reader's queue.
  func batch(_ number: Int64, jobs limit: Int) async throws -> Batch {
    return try await reader.perform { context in
      let id = try context.persistentStoreCoordinator.managedObjectID(entity: QueueModel.batch, number: number)
      let request = FetchRequest<BatchRecord>(
        entityName: QueueModel.batch, predicate: .comparison(.evaluatedObject, .equal, .constant(.object(id))),
        fetchLimit: 1)
      guard let batch = try context.fetch(request).first else { throw JobQueueError.noSuchBatch(number) }
      let members = FetchRequest<JobRecord>(
        entityName: QueueModel.job, predicate: .equal(JobRecord.Key.batch.name, .int(number)),
        sortDescriptors: [FetchSortDescriptor("SELF")], fetchLimit: limit)
      let jobs = try context.fetch(members)
      var snapshot = try batch.snapshot(jobs: jobs.map(\.objectID.number))
      for job in jobs { snapshot.progress.add(job.progress) }
      return snapshot
    }
  }
}

extension LedgerTurn {
  fileprivate func insert(_ submission: BatchSubmission, inOrder order: [Int]) throws -> (
    batch: BatchRecord, jobs: [JobRecord]
  ) {
    let batch = try context.insert(BatchRecord.self)
    batch.name = submission.name
    batch.submittedBy = submission.submittedBy
    batch.submittedAt = now
    batch.condition = submission.condition
    // Jobs join a batch that waits for some.
    batch.pending = 1
    try context.obtainPermanentIDs(for: [batch])
    let number = batch.objectID.number
    var numbers: [String: Int64] = [:]
    var jobs = [JobRecord?](repeating: nil, count: submission.jobs.count)
    for index in order {
      let member = submission.jobs[index]
      let follows = member.after.sorted { $0.key < $1.key }.compactMap { name, condition in
        numbers[name].map { JobDependency(job: $0, condition: condition) }
      }
      var wanted = member.job
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

extension BatchRecord {
  fileprivate func snapshot(jobs: [Int64]) throws -> Batch {
    Batch(
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
    recordsTotal += other.recordsTotal
    inserted += other.inserted
    updated += other.updated
    unchanged += other.unchanged
    deleted += other.deleted
    rejected += other.rejected
    skipped += other.skipped
  }
}
