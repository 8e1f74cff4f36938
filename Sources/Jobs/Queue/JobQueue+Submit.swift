import Foundation

extension JobQueue {
  /// The most jobs that one job follows.
  static let mostDependencies = 1000

  /// Takes a job in. It is durable when this returns.
  ///
  /// One origin makes one job: for a known one the job that it made is returned. So is the job that is
  /// not to be there twice, as its unique key says.
  /// - Throws: ``JobQueueError/unknownKind(_:known:)``, ``JobQueueError/unknownLane(_:known:)``,
  ///   ``JobQueueError/invalidSubmission(_:)``, ``JobQueueError/noSuchJob(_:)`` for one that it is to follow,
  ///   ``JobQueueError/noSuchBatch(_:)``, or the store's error.
  package func submit(_ submission: JobSubmission) async throws -> Job {
    try await receive(submission).job
  }

  /// Takes a job in as ``submit(_:)-(JobSubmission)`` does, without a task.
  /// - Parameter reply: called once, on the ledger's queue, when the job is durable or couldn't be made.
  /// - Throws: what is wrong with the submission itself; `reply` isn't called then.
  package func submit(
    _ submission: JobSubmission, reply: @escaping @Sendable (Result<Job, any Error>) -> Void
  ) throws(JobQueueError) {
    try check(submission)
    ledger.write(JobLedger.body(of: submission)) { (result: Result<SubmittedJob, any Error>) in
      reply(result.map(\.job))
    }
  }

  /// Takes a job in as ``submit(_:)-(JobSubmission)`` does, and says whether it is a new one.
  package func receive(_ submission: JobSubmission) async throws -> SubmittedJob {
    try check(submission)
    return try await ledger.submit(submission)
  }

  /// Takes in the retry of the rejects of a job, which has ended and isn't about to be tried again itself: its reject file
  /// would change.
  /// - Throws: ``JobQueueError/refused(id:why:)``, and as ``submit(_:)-(JobSubmission)``.
  package func receive(_ submission: JobSubmission, retryingRejectsOf id: Int64) async throws -> SubmittedJob {
    try check(submission)
    let body = JobLedger.body(of: submission)
    return try await ledger.write { turn in
      // Whoever begins to try it again after this finds the retry.
      guard try turn.job(id).jobState?.isEnded == true, !self.state.isReviving(id) else {
        throw JobQueueError.refused(id: id, why: "is being tried again")
      }
      return try body(turn)
    }
  }

  /// Takes jobs in, each as ``receive(_:)-(JobSubmission)`` does, whatever comes of the others; those that can be share a
  /// transaction.
  /// - Parameters:
  ///   - waits: whether the caller's thread may wait for the disk, which saves another thread.
  ///   - isThere: whether the entry of a submission, by its place among them, is still where other daemons see it. Each of them
  ///     asks in its turn, and these wait for each other, so only one makes a job of it. Others get ``EntryIsGone``, or the job.
  package nonisolated(nonsending) func receive(
    _ submissions: [JobSubmission], waits: Bool = false,
    isThere: @escaping @Sendable (Int) throws -> Bool = { _ in true }
  ) async -> [Result<SubmittedJob, any Error>] {
    let problems = submissions.map { submission -> JobQueueError? in
      do throws(JobQueueError) {
        try check(submission)
        return nil
      } catch {
        return error
      }
    }
    let sound = submissions.indices.compactMap { place in
      problems[place] == nil ? JobLedger.body(of: submissions[place]) { try isThere(place) } : nil
    }
    var receipts = await ledger.write(sound, waits: waits).makeIterator()
    return problems.map { problem in
      if let problem { return .failure(problem) }
      return receipts.next() ?? .failure(CancellationError())
    }
  }

  /// Takes many jobs in, with one transaction: those that can be made are durable when this returns. The answers are in
  /// the order of the submissions.
  /// - Throws: the store's error; no job is made then.
  package func submit(_ submissions: [JobSubmission]) async throws -> [JobAnswer] {
    var answers = [JobAnswer?](repeating: nil, count: submissions.count)
    for (place, submission) in submissions.enumerated() {
      do throws(JobQueueError) {
        try check(submission)
      } catch {
        answers[place] = .refused(error)
      }
    }
    let places = answers.indices.filter { answers[$0] == nil }
    if !places.isEmpty {
      for (place, answer) in zip(places, try await ledger.submit(places.map { submissions[$0] })) {
        answers[place] = answer
      }
    }
    return answers.compactMap { $0 }
  }

  /// - Parameter lanes: the names of those that it may be in; nil for those that there are.
  func check(_ submission: JobSubmission, lanes known: [String]? = nil) throws(JobQueueError) {
    let lane = submission.lane ?? LaneConfiguration.defaultName
    // Neither is without the other.
    let isChange = lane == LaneConfiguration.changesName
    guard operations.factory(for: submission.kind) != nil, (submission.kind == ChangeOperation.kind) == isChange else {
      if isChange { throw .unknownLane(lane, known: known ?? lanesNow) }
      throw .unknownKind(submission.kind, known: operations.submittedKinds)
    }
    guard isChange || known?.contains(lane) ?? hasLane(lane) else { throw .unknownLane(lane, known: known ?? lanesNow) }
    if let attempts = submission.maxAttempts, !(attempts > 0 && attempts <= Int(Int32.max)) {
      throw .invalidSubmission("it has to be tried at least once")
    }
    if let priority = submission.priority, Int32(exactly: priority) == nil {
      throw .invalidSubmission("its priority \(priority) is out of bounds")
    }
    if let timeout = submission.timeout, !(timeout > 0 && timeout < 1e10) {
      throw .invalidSubmission("its timeout isn't a number of seconds above 0")
    }
    if let period = submission.uniquePeriod, !(period > 0 && period < 1e10) {
      throw .invalidSubmission("the period of its uniqueness isn't a number of seconds above 0")
    }
    if submission.uniqueStates?.isEmpty == true {
      throw .invalidSubmission("its uniqueness is over no states")
    }
    guard submission.after.count <= Self.mostDependencies else {
      throw .invalidSubmission(
        "it follows more than \(Self.mostDependencies) jobs: make a batch of them, with a callback")
    }
    guard Set(submission.after.map(\.job)).count == submission.after.count else {
      throw .invalidSubmission("it follows a job twice")
    }
    if let problem = submission.problem { throw .invalidSubmission(problem.reason) }
  }
}

extension JobQueue {
  /// Takes a group of jobs in, all of them or none, which may follow one another. Durable when this returns. With
  /// nothing in it the callback would never run, so that is refused.
  /// - Returns: the batch, with the numbers of its jobs in the order in which they were given.
  /// - Throws: as ``submit(_:)``; ``JobQueueError/invalidSubmission(_:)`` too for jobs that wait for each other, and for
  ///   those that are to be there once, or come from the spool.
  package func submit(batch: BatchSubmission) async throws -> Batch {
    guard !batch.jobs.isEmpty else { throw JobQueueError.invalidSubmission("the batch has no jobs") }
    guard batch.jobs.count <= BatchSubmission.largest else {
      throw JobQueueError.invalidSubmission(
        "the batch has \(batch.jobs.count) jobs: \(BatchSubmission.largest) at most; put the others into it later"
      )
    }
    for submission in batch.jobs.map(\.job) + [batch.callback].compactMap({ $0 }) {
      try check(submission)
      guard submission.uniqueKey == nil, submission.origin == nil, submission.batch == nil else {
        throw JobQueueError.invalidSubmission("a job of a batch can't have a unique key, or belong to another batch")
      }
    }
    return try await ledger.submit(batch, inOrder: batch.order())
  }

  /// Takes the jobs of a replay in, unless one of the same key hasn't ended: then that is the answer. Durable when this
  /// returns.
  /// - Parameter key: the unique key of each of them.
  package func submit(replay batch: BatchSubmission, key: String) async throws -> (batch: Int64, isNew: Bool) {
    guard !batch.jobs.isEmpty, batch.jobs.count <= BatchSubmission.largest else {
      throw JobQueueError.invalidSubmission("a replay has 1 to \(BatchSubmission.largest) files")
    }
    var batch = batch
    for place in batch.jobs.indices {
      batch.jobs[place].job.uniqueKey = key
      try check(batch.jobs[place].job)
    }
    return try await ledger.submit(batch, inOrder: batch.order(), key: key)
  }

  /// Batches with smaller numbers than another, the newest first, without their jobs and progress.
  package func batches(before: Int64?, limit: Int) async throws -> [Batch] {
    try await ledger.batches(before: before, limit: limit)
  }

  /// The batch of that number, with the numbers of up to ``BatchSubmission/largest`` of its jobs and their progress.
  /// - Throws: ``JobQueueError/noSuchBatch(_:)``, or the store's error.
  package func batch(_ id: Int64) async throws -> Batch {
    var batch = try await ledger.batch(id, jobs: BatchSubmission.largest)
    batch.progress.bytesDone += state.progress(of: batch.jobs).reduce(0) { $0 + $1.bytesDone }
    return batch
  }
}

extension BatchSubmission {
  /// The members, each after those that it follows.
  func order() throws(JobQueueError) -> [Int] {
    var places: [String: Int] = [:]
    for (index, member) in jobs.enumerated() {
      guard let name = member.name else { continue }
      guard places.updateValue(index, forKey: name) == nil else {
        throw .invalidSubmission("two jobs of the batch are called \(name)")
      }
    }
    var followers = [[Int]](repeating: [], count: jobs.count)
    var missing = [Int](repeating: 0, count: jobs.count)
    for (index, member) in jobs.enumerated() {
      for name in member.after.keys {
        guard let place = places[name] else {
          throw .invalidSubmission("\(title(index)) is to follow \(name), which no job of the batch is called")
        }
        followers[place].append(index)
        missing[index] += 1
      }
    }
    var order: [Int] = []
    var next = jobs.indices.filter { missing[$0] == 0 }
    while !next.isEmpty {
      order += next
      var freed: [Int] = []
      for index in next {
        for follower in followers[index] {
          missing[follower] -= 1
          if missing[follower] == 0 { freed.append(follower) }
        }
      }
      next = freed.sorted()
    }
    guard order.count == jobs.count else {
      throw .invalidSubmission("jobs of the batch wait for each other: \(cycle(among: missing, places))")
    }
    return order
  }

  /// Some jobs that wait for each other, in a row.
  private func cycle(among missing: [Int], _ places: [String: Int]) -> String {
    guard var index = missing.firstIndex(where: { $0 > 0 }) else { return "" }
    var way: [Int] = []
    while !way.contains(index) {
      way.append(index)
      let next = jobs[index].after.keys.sorted().compactMap { places[$0] }.first { missing[$0] > 0 }
      guard let next else { break }
      index = next
    }
    let start = way.firstIndex(of: index) ?? 0
    return (way[start...] + [index]).map(title).joined(separator: " after ")
  }

  private func title(_ index: Int) -> String { jobs[index].name ?? "job \(index + 1)" }
}
