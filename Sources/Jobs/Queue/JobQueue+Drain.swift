import Foundation

extension JobQueue {
  /// Stops: nothing is claimed any more, running operations are asked to stop at their next batch and go back to
  /// `available`, and files of ended jobs are put away. Submissions are still taken; they run after the next start.
  ///
  /// - Returns: the jobs that still ran when `timeout` was over. If the process ends then, they are put back by the
  ///   next start.
  @discardableResult
  package func drain(timeout: Duration) async -> [JobSnapshot] {
    let deadline = clock.now().addingTimeInterval(timeout / .seconds(1))
    state.withLock { $0.isDraining = true }
    // A claim that is being made ends first, and its operation is among those that are asked.
    await withCheckedContinuation { continuation in
      ledger.context.perform { continuation.resume() }
    }
    for running in state.withLock({ Array($0.running.values) }) { running.operation.drain() }
    let quiet = Latch()
    state.withLock { $0.drainers.append(quiet) }
    endDrainIfQuiet()
    let cancel = clock.schedule(deadline) { quiet.open() }
    await quiet.wait()
    cancel()
    timer.cancel()
    pruneTimer.cancel()
    hub.finish()
    let left = state.withLock { $0.running.values.map(\.snapshot) }
    if !left.isEmpty {
      logger.warning("jobs: still running at the end of the wait", metadata: ["jobs": "\(left.map(\.id))"])
    }
    return left
  }

  func endDrainIfQuiet() {
    let drainers = state.withLock { state -> [Latch] in
      guard state.isDraining, state.isQuiet else { return [] }
      defer { state.drainers = [] }
      return state.drainers
    }
    for latch in drainers { latch.open() }
  }
}
