import Foundation
import ManagedObjects

// Reads are answered by the ledger's reader, on a queue of its own: they read the disk, which has no place on the main queue.
// The progress of a running job is kept in memory until it ends.

extension JobQueue {
  /// The jobs that run now, the oldest first, with their progress.
  package var runningJobs: [Job] {
    state.withLock { $0.running.snapshots }.sorted { $0.id < $1.id }
  }

  /// The job of that number.
  /// - Throws: ``JobQueueError/noSuchJob(_:)``, or the store's error.
  package func job(_ id: Int64, withTransitions: Bool = false) async throws -> Job {
    completed(try await ledger.read(id, withTransitions: withTransitions))
  }

  /// The jobs that pass a filter, in its order.
  package func jobs(_ filter: JobFilter = JobFilter()) async throws -> [Job] {
    try await ledger.read(filter).map(completed)
  }

  /// How many jobs there are, by lane and state. Costs the same with a million.
  package func counts() async throws -> JobCounts {
    if let counts = state.withLock({ $0.counts }) { return counts }
    return try await ledger.context.perform { try self.loadCounts() }
  }

  /// Counts once; later commits adjust the counts. On the ledger's queue.
  func loadCounts() throws -> JobCounts {
    if let counts = state.withLock({ $0.counts }) { return counts }
    let counts = try ledger.count(lanes: Array(lanes.keys))
    state.withLock { $0.counts = counts }
    return counts
  }

  /// A job with what is known in memory: its progress if it runs, what it waits for if it doesn't.
  package func completed(_ job: Job) -> Job {
    var job = job
    switch job.state {
    case .running:
      if let progress = state.withLock({ $0.running.progress(of: job.id) }) { job.progress = progress }
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

  /// What keeps an available job from running, apart from the jobs before it.
  private func obstacle(to job: Job) -> String? {
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

extension Job {
  /// The jobs that it follows, where they were asked for.
  fileprivate var batchOrJobs: String {
    guard let after, !after.isEmpty else { return "the jobs that it follows" }
    return (after.count == 1 ? "job " : "jobs ") + after.map { "\($0.job)" }.joined(separator: ", ")
  }
}

extension JobQueue {
  /// Waits until a job has ended and its file has been put away.
  /// - Throws: ``JobQueueError/noSuchJob(_:)``, the store's error, or `CancellationError` when the task is cancelled.
  package func whenEnded(_ id: Int64) async throws -> Job {
    while true {
      try Task.checkCancellation()
      // Registered before looking, so that no end is missed in between.
      let latch = Latch()
      state.withLock { $0.waiters.add(latch, for: id) }
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
  private func endedJob(_ id: Int64) async throws -> Job? {
    let job = try await job(id)
    guard job.state.isEnded else { return nil }
    // The main context may have merged the commit before the queue has done what follows from it.
    try await ledger.context.perform {}
    return state.withLock { $0.settling.contains(id) } ? nil : job
  }

  private func leave(_ latch: Latch, of id: Int64) {
    state.withLock { $0.waiters.remove(latch, for: id) }
  }
}
