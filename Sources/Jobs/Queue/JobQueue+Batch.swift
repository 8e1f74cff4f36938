import Foundation

extension JobQueue {
  /// Takes a group of jobs in, all of them or none, which may follow one another. Durable when this returns. With
  /// nothing in it the callback would never run, so that is refused.
  /// - Returns: the batch, with the numbers of its jobs in the order in which they were given.
  /// - Throws: as ``submit(_:)``; ``JobQueueError/invalidSubmission(_:)`` too for jobs that wait for each other, and for
  ///   those that are to be there once, or come from the spool.
  package func submit(batch: JobBatchSubmission) async throws -> JobBatchSnapshot {
    guard !batch.members.isEmpty else { throw JobQueueError.invalidSubmission("the batch has no jobs") }
    guard batch.members.count <= JobBatchSubmission.largest else {
      throw JobQueueError.invalidSubmission(
        "the batch has \(batch.members.count) jobs: \(JobBatchSubmission.largest) at most; put the others into it later"
      )
    }
    for submission in batch.members.map(\.submission) + [batch.callback].compactMap({ $0 }) {
      try check(submission)
      guard submission.uniqueness == nil, submission.origin == nil, submission.batch == nil else {
        throw JobQueueError.invalidSubmission("a job of a batch can't have a unique key, or belong to another batch")
      }
    }
    return try await ledger.submit(batch, inOrder: batch.order())
  }

  /// The batch of that number, with the numbers of up to ``JobBatchSubmission/largest`` of its jobs and their progress.
  /// - Throws: ``JobQueueError/noSuchBatch(_:)``, or the store's error.
  package func batch(_ id: Int64) async throws -> JobBatchSnapshot {
    var batch = try await ledger.batch(id, jobs: JobBatchSubmission.largest)
    let running = state.withLock { state in batch.jobs.compactMap { state.running[$0]?.snapshot.progress.bytesDone } }
    batch.progress.bytesDone += running.reduce(0, +)
    return batch
  }
}

extension JobBatchSubmission {
  /// The members, each after those that it follows.
  func order() throws(JobQueueError) -> [Int] {
    var places: [String: Int] = [:]
    for (index, member) in members.enumerated() {
      guard let name = member.name else { continue }
      guard places.updateValue(index, forKey: name) == nil else {
        throw .invalidSubmission("two jobs of the batch are called \(name)")
      }
    }
    var followers = [[Int]](repeating: [], count: members.count)
    var missing = [Int](repeating: 0, count: members.count)
    for (index, member) in members.enumerated() {
      for name in member.after.keys {
        guard let place = places[name] else {
          throw .invalidSubmission("\(title(index)) is to follow \(name), which no job of the batch is called")
        }
        followers[place].append(index)
        missing[index] += 1
      }
    }
    var order: [Int] = []
    var next = members.indices.filter { missing[$0] == 0 }
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
    guard order.count == members.count else {
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
      let next = members[index].after.keys.sorted().compactMap { places[$0] }.first { missing[$0] > 0 }
      guard let next else { break }
      index = next
    }
    let start = way.firstIndex(of: index) ?? 0
    return (way[start...] + [index]).map(title).joined(separator: " after ")
  }

  private func title(_ index: Int) -> String { members[index].name ?? "job \(index + 1)" }
}
