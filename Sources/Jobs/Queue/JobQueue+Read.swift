import ManagedObjects

// Reads are answered by the main context, on the main queue, which follows every save. How far a running job is stands
// in memory until it ends.

extension JobQueue {
  /// The job of that number.
  /// - Throws: ``JobQueueError/noSuchJob(_:)``, or the store's error.
  package func job(_ id: Int64, withTransitions: Bool = false) async throws -> JobSnapshot {
    withProgress(try await ledger.read(id, withTransitions: withTransitions))
  }

  /// The jobs that pass a filter, in its order.
  package func jobs(_ filter: JobFilter = JobFilter()) async throws -> [JobSnapshot] {
    try await ledger.read(filter).map(withProgress)
  }

  /// How many jobs there are, by lane and state. Costs the same with a million.
  package func counts() async throws -> JobCounts {
    if let counts = state.withLock({ $0.counts }) { return counts }
    return try await ledger.context.perform { try self.loadCounts() }
  }

  /// Counts once; from then on every commit is added. On the ledger's queue.
  func loadCounts() throws -> JobCounts {
    if let counts = state.withLock({ $0.counts }) { return counts }
    let counts = try ledger.count(lanes: Array(lanes.keys))
    state.withLock { $0.counts = counts }
    return counts
  }

  private func withProgress(_ job: JobSnapshot) -> JobSnapshot {
    guard job.state == .running, let running = state.withLock({ $0.running[job.id] }) else { return job }
    var job = job
    job.progress = running.snapshot.progress
    return job
  }
}
