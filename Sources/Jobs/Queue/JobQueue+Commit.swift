import Foundation

// What follows from a commit. All of it runs on the ledger's queue, in the order of the changes.

extension JobQueue: LedgerObserver {
  var lanesNow: [String] { Array(lanes.keys) }

  func hasLane(_ name: String) -> Bool { lanes[name] != nil }

  /// The next job is claimed in the transaction that ends the one before, so that a job costs one and not two.
  func ledgerWillCommit(_ turn: LedgerTurn) {
    let now = clock.now()
    var scope = claimScope
    for (lane, ids) in turn.endedByLane {
      let slots = state.withLock { state -> Int? in
        guard state.isStarted, !state.isDraining, state.lanesWithWork.contains(lane) else { return nil }
        let ended = state.running.holders(among: ids)
        return state.slots(of: lane, ended: ended, at: now)
      }
      guard let slots else { continue }
      do {
        let looksAhead = looksAhead(in: lane, after: ids)
        // Looked up once for both.
        if looksAhead { _ = try turn.available(in: lane, besides: [], limit: reach(in: lane, claims: slots)) }
        let claimed = slots > 0 ? try turn.claim(lane: lane, limit: slots, &scope) : 0
        if looksAhead { try lookAhead(in: lane, turn, claimed: claimed) }
      } catch {
        report(error, "no job of lane \(lane) could be claimed")
      }
    }
    claimOffered(by: turn, at: now, &scope)
    state.withLock { $0.use.takeNext(of: scope.use) }
  }

  /// In a lane where nothing waits, new jobs are claimed by the transaction that makes them.
  private func claimOffered(by turn: LedgerTurn, at now: Date, _ scope: inout ClaimScope) {
    for (lane, jobs) in turn.offeredByLane {
      let slots = state.withLock { state -> Int in
        guard state.isStarted, !state.isDraining, !state.lanesWithWork.contains(lane), state.ahead(in: lane) == 0 else {
          return 0
        }
        return state.slots(of: lane, at: now)
      }
      guard slots > 0 else { continue }
      do {
        try turn.claim(jobs, limit: slots, &scope)
      } catch {
        report(error, "no job of lane \(lane) could be claimed")
      }
    }
  }

  private var claimScope: ClaimScope {
    ClaimScope(
      use: state.withLock { $0.use }, ahead: { [weak self] in self?.ahead(in: $0) ?? 0 },
      access: { [operations] in operations.access(of: $0) })
  }

  func ledgerDidCommit(_ changes: [LedgerChange]) {
    let delegate = delegate
    var ended: [Job] = []
    for change in changes {
      let job = change.job
      for step in change.steps { logger.log(step, of: job) }
      state.withLock { state in
        let isClaimedAtOnce = change.from == nil && job.state == .running
        if isClaimedAtOnce { state.counts?.move(in: job.lane, from: nil, to: .available) }
        state.counts?.move(
          in: job.lane, from: isClaimedAtOnce ? .available : change.from, to: change.isRemoved ? nil : job.state)
        if job.state != .running {
          state.end(job.id)
          if job.state != .available, state.use.giveUp(job.id) { state.lanesWithWork.formUnion(state.lanes.keys) }
        } else {
          state.running.noteCancelRequest(job.isCancelRequested, of: job.id)
        }
        if change.isRemoved { return }
        if change.actions.contains(.settle) { state.settling.begin(job) }
        state.upcoming.putInOrder(job)
        // Under the lock, as progress is: no progress is announced after the end.
        if !change.actions.contains(.run) || job.state != .running { hub.broadcast(job) }
      }
      if !change.isRemoved { delegate?.jobQueue(self, didMove: job, from: change.from) }
      for action in change.actions {
        switch action {
        case .offer: if job.state == .available { state.withLock { _ = $0.lanesWithWork.insert(job.lane) } }
        case .wake(let time): wake(at: time)
        case .run: if job.state == .running, !noteClaim(of: job) { run(job) }
        case .stop: stop(job.id)
        case .settle:
          if !job.isBeforeArrival { ended.append(job) }
          wakeToPrune(job)
        }
      }
      if change.isRemoved { clearAway(job) }
    }
    putAway(ended)
    pruneIfMany()
    endDrainIfQuiet()
  }

  func ledgerDidEndTurn() { claimWork() }

  /// Claims jobs for the free slots of every lane that may have work. On the ledger's queue.
  func claimWork() {
    let now = clock.now()
    let (candidates, limited) = state.withLock { state -> ([String], [Date]) in
      guard state.isStarted, !state.isDraining else { return ([], []) }
      let names = state.lanesWithWork.sorted()
      return (names, names.compactMap { state.lanes[$0]?.nextStart(at: now) })
    }
    if let next = limited.min() { wake(at: next) }
    for lane in candidates {
      let slots = state.withLock { $0.slots(of: lane, at: now) }
      guard slots > 0 else { continue }
      var scope = claimScope
      do {
        let claimed = try ledger.claim(lane: lane, limit: slots, &scope)
        state.withLock { state in
          state.use.takeNext(of: scope.use)
          // Those that have begun ahead may have been all that was looked at.
          if claimed < slots, state.ahead(in: lane) == 0 { state.lanesWithWork.remove(lane) }
        }
      } catch {
        report(error, "no job of lane \(lane) could be claimed")
      }
    }
  }

  /// Has the delegate remove what is kept of a removed job elsewhere.
  private func clearAway(_ job: Job) {
    Task {
      do {
        try await delegate?.jobQueue(self, didRemove: job)
      } catch {
        logger.error(
          "job \(job.id): it was removed, and what is left of it couldn't be",
          metadata: job.logMetadata.adding(["error": "\(error)"]))
      }
    }
  }

  /// Has the files of jobs put away, then lets those go on who wait for the jobs. Jobs with files don't wait for each other.
  private func putAway(_ jobs: [Job]) {
    let withoutFile = jobs.filter { $0.activeName == nil }
    if !withoutFile.isEmpty { Task { for job in withoutFile { await putAway(job) } } }
    for job in jobs where job.activeName != nil { Task { await putAway(job) } }
  }

  private func putAway(_ job: Job) async {
    do {
      try await delegate?.jobQueue(self, didEnd: job)
    } catch {
      logger.error(
        "job \(job.id): its file couldn't be put away, and stays in active/ until the next start",
        metadata: job.logMetadata.adding(["file": "\(job.activeName ?? "-")", "error": "\(error)"]))
    }
    let (waiters, prunesAgain) = state.withLock { ($0.waiters.take(for: job.id), $0.settling.end(job.id)) }
    for waiter in waiters { waiter.open() }
    if prunesAgain { pruneSoon() }
    endDrainIfQuiet()
  }

  /// As after a commit: see ``settle(_:)``.
  func settle(_ job: Job) {
    let isNew = state.withLock { $0.settling.beginAgain(job.id) }
    if isNew { putAway([job]) }
  }
}
