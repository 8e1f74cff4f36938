import Dispatch
import Foundation
import Logging
import ManagedObjects
import Synchronization

extension JobQueue {
  /// Rescues the jobs that an earlier process left running, and begins to run jobs.
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

  /// Loads the run-time settings of lanes, and the starts that their rates count.
  private func loadLanes() throws {
    let set = try ledger.laneSettings()
    for name in lanes.keys {
      if let setting = set[name] { apply(setting, to: name) }
      guard let control = state.withLock({ $0.lanes[name] }) else { continue }
      let starts = try control.storedStarts(ledger, at: clock.now())
      state.withLock { $0.lanes[name]?.starts = starts }
    }
  }

  /// Has the delegate put away the files of those of the jobs that have ended: for files still in `active/` at a start, whose
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

  /// Does what is due, and sets the timer for what is next. On the ledger's queue.
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

  /// Logs that something couldn't be written, and tries again in a second.
  func report(_ error: any Error, _ what: String, job: Int64? = nil) {
    var metadata: Logger.Metadata = ["error": "\(error)"]
    if let job { metadata["job"] = "\(job)" }
    logger.error("\(job.map { "job \($0)" } ?? "jobs"): \(what)", metadata: metadata)
    wake(at: clock.now().addingTimeInterval(1))
  }
}

extension JobQueue {
  /// Stops: nothing is claimed any more, running operations are asked to stop at their next batch and go back to
  /// `available`, and files of ended jobs are put away. Submissions are still taken; they run after the next start.
  ///
  /// - Returns: the jobs that still ran when `timeout` was over. If the process ends then, they are put back by the
  ///   next start.
  @discardableResult
  package func drain(timeout: Duration) async -> [Job] {
    let deadline = clock.now().addingTimeInterval(timeout / .seconds(1))
    state.withLock { $0.isDraining = true }
    // A claim that is under way ends first, so its operation is asked to stop, too.
    await withCheckedContinuation { continuation in
      ledger.context.perform { continuation.resume() }
    }
    for operation in state.withLock({ $0.running.operations }) { operation.drain() }
    let quiet = Latch()
    state.withLock { $0.waiters.addForQuiet(quiet) }
    endDrainIfQuiet()
    let cancel = clock.schedule(deadline) { quiet.open() }
    await quiet.wait()
    cancel()
    timer.cancel()
    pruneTimer.cancel()
    hub.finish()
    let left = state.withLock { $0.running.snapshots }
    if !left.isEmpty {
      logger.warning("jobs: still running at the end of the wait", metadata: ["jobs": "\(left.map(\.id))"])
    }
    return left
  }

  func endDrainIfQuiet() {
    let drainers = state.withLock { state -> [Latch] in
      guard state.isDraining, state.isQuiet else { return [] }
      return state.waiters.takeForQuiet()
    }
    for latch in drainers { latch.open() }
  }
}

/// Where a probe of the queue is.
package enum ProbeStation: Sendable, Equatable, CustomStringConvertible {
  /// The queue's store, by its only writer.
  case store
  /// Where the operations of a lane begin.
  case lane(String)

  package var description: String {
    switch self {
    case .store: "the queue's store"
    case .lane(let name): "the lane \(name)"
    }
  }
}

extension JobQueue {
  /// Goes once around: reads the store on the ledger's queue, where every change of a job is written, and then has each
  /// lane begin something, however many operations run there. Whatever hangs keeps it from coming back.
  /// - Parameters:
  ///   - arrived: called at each station, before it lets the round on.
  ///   - finished: called once, after the last; with the store's error, if it can't be read.
  package func round(
    arrived: @escaping @Sendable (ProbeStation) -> Void, finished: @escaping @Sendable ((any Error)?) -> Void
  ) {
    arrived(.store)
    ledger.context.perform { [ledger, lanes] in
      do {
        let request = FetchRequest<JobRecord>(entityName: "Job", fetchLimit: 1)
        _ = try ledger.context.count(for: request)
      } catch {
        return finished(error)
      }
      Self.pass(lanes.values.sorted { $0.name < $1.name }[...], arrived) { finished(nil) }
    }
  }

  private static func pass(
    _ lanes: ArraySlice<LaneQueue>, _ arrived: @escaping @Sendable (ProbeStation) -> Void,
    _ finished: @escaping @Sendable () -> Void
  ) {
    guard let lane = lanes.first else { return finished() }
    arrived(.lane(lane.name))
    lane.probe { pass(lanes.dropFirst(), arrived, finished) }
  }
}
