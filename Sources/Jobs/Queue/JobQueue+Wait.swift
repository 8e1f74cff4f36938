import Foundation

extension JobQueue {
  /// Waits until a job has ended and its file has been put away.
  /// - Throws: ``JobQueueError/noSuchJob(_:)``, the store's error, or `CancellationError` when the task is cancelled.
  package func whenEnded(_ id: Int64) async throws -> JobSnapshot {
    while true {
      try Task.checkCancellation()
      // In line before looking, so that no end is missed in between.
      let latch = Latch()
      state.withLock { $0.waiters[id, default: []].append(latch) }
      defer { leave(latch, of: id) }
      if let job = try await endedJob(id) { return job }
      await withTaskCancellationHandler {
        await latch.wait()
      } onCancel: {
        latch.open()
      }
    }
  }

  /// The job, if it has ended and is settled.
  private func endedJob(_ id: Int64) async throws -> JobSnapshot? {
    let job = try await job(id)
    guard job.state.isEnded else { return nil }
    // The main context may have heard of the commit before this queue has done what follows from it.
    try await ledger.context.perform {}
    return state.withLock { $0.settling.contains(id) || $0.unarrived.contains(id) } ? nil : job
  }

  private func leave(_ latch: Latch, of id: Int64) {
    state.withLock { state in
      state.waiters[id]?.removeAll { $0 === latch }
      if state.waiters[id]?.isEmpty ?? false { state.waiters[id] = nil }
    }
  }
}
