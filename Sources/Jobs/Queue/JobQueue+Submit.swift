import Foundation

extension JobQueue {
  /// The most jobs that one job follows.
  static let mostDependencies = 1000

  /// Takes a job in. It is durable when this returns.
  ///
  /// One origin makes one job: for a known one the job that it made is returned. So is the job that is
  /// not to be there twice, as its ``JobUniqueness`` says.
  /// - Throws: ``JobQueueError/unknownKind(_:known:)``, ``JobQueueError/unknownLane(_:known:)``,
  ///   ``JobQueueError/invalidSubmission(_:)``, ``JobQueueError/noSuchJob(_:)`` for one that it is to follow,
  ///   ``JobQueueError/noSuchBatch(_:)``, or the store's error.
  package func submit(_ submission: JobSubmission) async throws -> JobSnapshot {
    try await receive(submission).job
  }

  /// Takes a job in as ``submit(_:)-(JobSubmission)`` does, and says whether it is a new one.
  package func receive(_ submission: JobSubmission) async throws -> JobReceipt {
    try check(submission)
    return try await ledger.submit(submission)
  }

  /// Takes jobs in, each as ``receive(_:)-(JobSubmission)`` does, whatever comes of the others; those that can be share a
  /// transaction.
  package nonisolated(nonsending) func receive(_ submissions: [JobSubmission]) async -> [Result<JobReceipt, any Error>]
  {
    let problems = submissions.map { submission -> JobQueueError? in
      do throws(JobQueueError) {
        try check(submission)
        return nil
      } catch {
        return error
      }
    }
    let sound = zip(submissions, problems).compactMap { $1 == nil ? JobLedger.body(of: $0) : nil }
    var receipts = await ledger.write(sound).makeIterator()
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
    guard operations.factory(for: submission.kind) != nil else {
      throw .unknownKind(submission.kind, known: operations.kinds)
    }
    guard known?.contains(submission.lane) ?? hasLane(submission.lane) else {
      throw .unknownLane(submission.lane, known: known ?? lanesNow)
    }
    guard submission.maxAttempts > 0, submission.maxAttempts <= Int(Int32.max) else {
      throw .invalidSubmission("it has to be tried at least once")
    }
    guard Int32(exactly: submission.priority) != nil else {
      throw .invalidSubmission("its priority \(submission.priority) is out of bounds")
    }
    if let timeout = submission.timeout, !(timeout > 0 && timeout < 1e10) {
      throw .invalidSubmission("its timeout isn't a number of seconds above 0")
    }
    if let period = submission.uniqueness?.period, !(period > 0 && period < 1e10) {
      throw .invalidSubmission("the period of its uniqueness isn't a number of seconds above 0")
    }
    if let uniqueness = submission.uniqueness, uniqueness.states.isEmpty {
      throw .invalidSubmission("its uniqueness is over no states")
    }
    guard submission.after.count <= Self.mostDependencies else {
      throw .invalidSubmission(
        "it follows more than \(Self.mostDependencies) jobs: make a batch of them, with a callback")
    }
    guard Set(submission.after.map(\.job)).count == submission.after.count else {
      throw .invalidSubmission("it follows a job twice")
    }
    if let tag = submission.tags.first(where: { $0.isEmpty || $0.contains("|") }) {
      throw .invalidSubmission("\"\(tag)\" can't be a tag: it is empty or has a | in it")
    }
    if submission.options == "{}" { return }
    let options: Any
    do {
      options = try JSONSerialization.jsonObject(with: Data(submission.options.utf8))
    } catch {
      throw .invalidSubmission("its options aren't JSON: \(submission.options.prefix(100))")
    }
    guard options is [String: Any] else { throw .invalidSubmission("its options aren't a JSON object") }
  }
}
