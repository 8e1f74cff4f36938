import Foundation
import ManagedObjects

// Reads are answered by the main context, on the main queue, which follows every save. How far a running job is stands
// in memory until it ends.

extension JobQueue {
  /// The jobs that run now, the oldest first, with their progress.
  package var runningJobs: [JobSnapshot] {
    state.withLock { $0.running.values.map(\.snapshot) }.sorted { $0.id < $1.id }
  }

  /// The job of that number.
  /// - Throws: ``JobQueueError/noSuchJob(_:)``, or the store's error.
  package func job(_ id: Int64, withTransitions: Bool = false) async throws -> JobSnapshot {
    completed(try await ledger.read(id, withTransitions: withTransitions))
  }

  /// The jobs that pass a filter, in its order.
  package func jobs(_ filter: JobFilter = JobFilter()) async throws -> [JobSnapshot] {
    try await ledger.read(filter).map(completed)
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

  /// A job with what stands in memory: how far it is when it runs, and what it waits for when it doesn't.
  package func completed(_ job: JobSnapshot) -> JobSnapshot {
    var job = job
    switch job.state {
    case .running:
      if let progress = state.withLock({ $0.running[job.id]?.snapshot.progress }) { job.progress = progress }
    case .scheduled:
      if job.isHeld {
        job.waitsFor = "its release"
      } else if job.isAwaitingFile {
        job.waitsFor = "its file"
      } else if job.isAwaitingJobs {
        job.waitsFor = job.batchOrJobs
      }
    case .available: job.waitsFor = obstacle(to: job)
    case .retryable, .completed, .cancelled, .discarded: break
    }
    return job
  }

  /// What keeps an available job from being next, beside those before it.
  private func obstacle(to job: JobSnapshot) -> String? {
    let access = operations.access(of: job.kind)
    let now = clock.now()
    return state.withLock { state in
      guard let lane = state.lanes[job.lane] else { return "a lane \(job.lane), which isn't configured" }
      if lane.setting.isPaused {
        return "lane \(job.lane), which \(lane.setting.pausedBy ?? "somebody") paused"
      }
      if let obstacle = state.use.obstacle(to: job.id, store: job.store, access: access) { return obstacle }
      guard let next = lane.nextStart(at: now) else { return nil }
      return "the rate of lane \(job.lane), until \(next.formatted(.iso8601))"
    }
  }
}

extension JobSnapshot {
  /// The jobs that it follows, where they were asked for.
  fileprivate var batchOrJobs: String {
    guard let after, !after.isEmpty else { return "the jobs that it follows" }
    return (after.count == 1 ? "job " : "jobs ") + after.map { "\($0.job)" }.joined(separator: ", ")
  }
}
