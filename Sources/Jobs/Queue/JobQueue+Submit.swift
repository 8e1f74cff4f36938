import Foundation

extension JobQueue {
  /// Takes a job in. It is durable when this returns.
  ///
  /// One spool entry makes one job: for a known `spoolIdentity` the job that it made is returned. So is the job with
  /// the same `uniqueKey`, as long as it hasn't ended.
  /// - Throws: ``JobQueueError/unknownKind(_:known:)``, ``JobQueueError/unknownLane(_:known:)``,
  ///   ``JobQueueError/invalidSubmission(_:)``, or the store's error.
  package func submit(_ submission: JobSubmission) async throws -> JobSnapshot {
    try check(submission)
    return try await ledger.submit(submission)
  }

  private func check(_ submission: JobSubmission) throws(JobQueueError) {
    guard operations.factory(for: submission.kind) != nil else {
      throw .unknownKind(submission.kind, known: operations.kinds)
    }
    guard lanes[submission.lane] != nil else { throw .unknownLane(submission.lane, known: Array(lanes.keys)) }
    guard submission.maxAttempts > 0, submission.maxAttempts <= Int(Int32.max) else {
      throw .invalidSubmission("it has to be tried at least once")
    }
    guard Int32(exactly: submission.priority) != nil else {
      throw .invalidSubmission("its priority \(submission.priority) is out of bounds")
    }
    if let tag = submission.tags.first(where: { $0.isEmpty || $0.contains("|") }) {
      throw .invalidSubmission("\"\(tag)\" can't be a tag: it is empty or has a | in it")
    }
    let options: Any
    do {
      options = try JSONSerialization.jsonObject(with: Data(submission.options.utf8))
    } catch {
      throw .invalidSubmission("its options aren't JSON: \(submission.options.prefix(100))")
    }
    guard options is [String: Any] else { throw .invalidSubmission("its options aren't a JSON object") }
  }
}
