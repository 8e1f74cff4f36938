import Foundation

// What follows from a commit. All of it runs on the ledger's queue, so that a job's changes are seen in their order.

extension JobQueue: LedgerObserver {
  /// The next job is claimed in the transaction that ends the one before, so that a job costs one and not two.
  func ledgerWillCommit(_ turn: LedgerTurn) {
    for (lane, ended) in turn.endedByLane {
      let slots = state.withLock { state -> Int in
        guard state.isStarted, !state.isDraining, state.lanesWithWork.contains(lane), let known = lanes[lane] else {
          return 0
        }
        return known.configuration.concurrency - (state.inLane[lane] ?? 0) + ended
      }
      guard slots > 0 else { continue }
      do {
        _ = try turn.claim(lane: lane, limit: slots)
      } catch {
        report(error, "no job of lane \(lane) could be claimed")
      }
    }
  }

  func ledgerDidCommit(_ changes: [LedgerChange]) {
    for change in changes {
      let job = change.job
      logger.debug(
        "jobs: \(change.from?.rawValue ?? "new") → \(job.state.rawValue)",
        metadata: ["job": "\(job.id)", "kind": "\(job.kind)", "reason": "\(job.reason ?? "")"])
      state.withLock { state in
        state.counts?.move(in: job.lane, from: change.from, to: job.state)
        if job.state != .running, let running = state.running.removeValue(forKey: job.id) {
          state.inLane[running.lane, default: 1] -= 1
          state.unwritten[job.id] = nil
        } else if job.state == .running {
          state.running[job.id]?.snapshot.isCancelRequested = job.isCancelRequested
        }
        if change.actions.contains(.settle) { state.settling.insert(job.id) }
        // Under the lock, as progress is: nobody hears of progress after the end.
        if !change.actions.contains(.run) { hub.broadcast(job) }
      }
      for action in change.actions {
        switch action {
        case .offer: state.withLock { _ = $0.lanesWithWork.insert(job.lane) }
        case .wake(let time): wake(at: time)
        case .run: run(job)
        case .stop: state.withLock { $0.running[job.id]?.operation }?.cancel()
        case .settle: putAway(job)
        }
      }
    }
    endDrainIfQuiet()
  }

  func ledgerDidEndTurn() { claimWork() }

  /// Fills the free slots of every lane that may have work. On the ledger's queue.
  func claimWork() {
    let free = state.withLock { state -> [(lane: String, slots: Int)] in
      guard state.isStarted, !state.isDraining else { return [] }
      return state.lanesWithWork.compactMap { name in
        guard let lane = lanes[name] else { return nil }
        let slots = lane.configuration.concurrency - (state.inLane[name] ?? 0)
        return slots > 0 ? (name, slots) : nil
      }
    }
    for (lane, slots) in free {
      do {
        let claimed = try ledger.claim(lane: lane, limit: slots)
        if claimed < slots { state.withLock { _ = $0.lanesWithWork.remove(lane) } }
      } catch {
        report(error, "no job of lane \(lane) could be claimed")
      }
    }
  }

  /// The job's file is put away, and whoever waits is told.
  private func putAway(_ job: JobSnapshot) {
    Task {
      do {
        try await hooks.finished(job)
      } catch {
        logger.error(
          "jobs: a file couldn't be put away; it stays in active/ until the next start",
          metadata: ["job": "\(job.id)", "file": "\(job.activeName ?? "-")", "error": "\(error)"])
      }
      let waiters = state.withLock { state in
        state.settling.remove(job.id)
        return state.waiters.removeValue(forKey: job.id) ?? []
      }
      for waiter in waiters { waiter.open() }
      endDrainIfQuiet()
    }
  }

  /// As after a commit: see ``settle(_:)``.
  func settle(_ job: JobSnapshot) {
    let isNew = state.withLock { $0.settling.insert(job.id).inserted }
    if isNew { putAway(job) }
  }
}
