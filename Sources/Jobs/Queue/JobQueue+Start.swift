import Foundation
import Logging

extension JobQueue {
  /// Puts back what an earlier process left running, and begins to run jobs.
  /// - Throws: ``JobQueueError/startedBefore``, ``JobQueueError/invalidSchedule(_:_:)``, or the store's error; nothing runs then, and it may be started again.
  package func start() async throws {
    try await ledger.context.perform {
      guard !self.state.withLock({ $0.isStarted }) else { throw JobQueueError.startedBefore }
      try self.beginSchedules()
      let counts = try self.loadCounts()
      try self.loadLanes()
      let rescued = try self.ledger.rescue()
      if rescued > 0 { self.logger.notice("jobs: put back what was running", metadata: ["jobs": "\(rescued)"]) }
      let orphans = counts.other.filter { !$0.key.isEnded }.values.reduce(0, +)
      if orphans > 0 {
        self.logger.warning("jobs: some wait in lanes that aren't configured", metadata: ["jobs": "\(orphans)"])
      }
      self.state.withLock {
        $0.isStarted = true
        $0.lanesWithWork = Set(self.lanes.keys)
      }
      self.wakeUp()
      self.prune()
    }
  }

  /// What was set of lanes, and what their rates remember.
  private func loadLanes() throws {
    let set = try ledger.laneSettings()
    for name in lanes.keys {
      if let setting = set[name] { apply(setting, to: name) }
      guard let rate = state.withLock({ $0.lanes[name]?.configuration.rate }) else { continue }
      let starts = try latestStarts(in: name, rate)
      state.withLock { $0.lanes[name]?.starts = starts }
    }
  }

  /// Calls the `finished` hook for those of the jobs that have ended: for files still in `active/` at a start, whose
  /// jobs ended just before the kill. Jobs that don't exist are returned.
  package func settle(_ ids: [Int64]) async throws -> [Int64] {
    var unknown: [Int64] = []
    for id in ids {
      do {
        let job = try await job(id)
        if job.state.isEnded { settle(job) }
      } catch JobQueueError.noSuchJob {
        unknown.append(id)
      }
    }
    return unknown
  }

  /// Does what is due, and sets the timer for what will be. On the ledger's queue.
  func wakeUp() {
    let unwritten = state.withLock { state in
      defer { state.unwritten = [:] }
      return state.unwritten
    }
    for (id, outcome) in unwritten { write(outcome, of: id) }
    guard state.withLock({ $0.isStarted && !$0.isDraining }) else { return }
    do {
      if let next = try ledger.promoteDue() { wake(at: next) }
      if let next = try ledger.expireDue() { wake(at: next) }
    } catch {
      report(error, "what is due couldn't be made available")
    }
    if let next = stopOverdue() { wake(at: next) }
    runSchedules()
    claimWork()
  }

  func wake(at time: Date) {
    timer.arm(time) { [weak self] in
      guard let self else { return }
      ledger.context.perform { self.wakeUp() }
    }
  }

  /// Says that something couldn't be written, and that it is tried again soon.
  func report(_ error: any Error, _ what: String, job: Int64? = nil) {
    var metadata: Logger.Metadata = ["error": "\(error)"]
    if let job { metadata["job"] = "\(job)" }
    logger.error("\(job.map { "job \($0)" } ?? "jobs"): \(what)", metadata: metadata)
    wake(at: clock.now().addingTimeInterval(1))
  }
}
