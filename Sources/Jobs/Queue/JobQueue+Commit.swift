import Foundation

// What follows from a commit. All of it runs on the ledger's queue, so that a job's changes are seen in their order.

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
        let ended = ids.count { state.running[$0]?.hasPassedOn == false }
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

  /// In lanes where nothing else waits, what comes is claimed as it comes.
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
    var ended: [JobSnapshot] = []
    for change in changes {
      let job = change.job
      for step in change.steps { logger.log(step, of: job) }
      state.withLock { state in
        let isClaimedAtOnce = change.from == nil && job.state == .running
        if isClaimedAtOnce { state.counts?.move(in: job.lane, from: nil, to: .available) }
        state.counts?.move(
          in: job.lane, from: isClaimedAtOnce ? .available : change.from, to: change.isRemoved ? nil : job.state)
        if job.state != .running {
          state.forget(job.id)
          if job.state != .available, state.use.giveUp(job.id) { state.lanesWithWork.formUnion(state.lanes.keys) }
        } else {
          state.running[job.id]?.snapshot.isCancelRequested = job.isCancelRequested
        }
        if change.isRemoved { return }
        if change.actions.contains(.settle) {
          if job.isBeforeArrival {
            state.unarrived.insert(job.id)
          } else {
            state.unarrived.remove(job.id)
            state.settling.insert(job.id)
          }
        }
        state.putInOrder(job)
        // Under the lock, as progress is: nobody hears of progress after the end.
        if !change.actions.contains(.run) || job.state != .running { hub.broadcast(job) }
      }
      if !change.isRemoved { hooks.moved(job, change.from) }
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

  /// Fills the free slots of every lane that may have work. On the ledger's queue.
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

  /// What is kept of a removed job elsewhere is removed too.
  private func clearAway(_ job: JobSnapshot) {
    Task {
      do {
        try await hooks.removed(job)
      } catch {
        logger.error(
          "job \(job.id): it was removed, and what is left of it couldn't be",
          metadata: job.logMetadata.adding(["error": "\(error)"]))
      }
    }
  }

  /// The jobs' files are put away, and whoever waits is told. Those that have a file don't wait for each other.
  private func putAway(_ jobs: [JobSnapshot]) {
    let withoutFile = jobs.filter { $0.activeName == nil }
    if !withoutFile.isEmpty { Task { for job in withoutFile { await putAway(job) } } }
    for job in jobs where job.activeName != nil { Task { await putAway(job) } }
  }

  private func putAway(_ job: JobSnapshot) async {
    do {
      try await hooks.finished(job)
    } catch {
      logger.error(
        "job \(job.id): its file couldn't be put away, and stays in active/ until the next start",
        metadata: job.logMetadata.adding(["file": "\(job.activeName ?? "-")", "error": "\(error)"]))
    }
    let (waiters, isPruningCut) = state.withLock { state in
      state.settling.remove(job.id)
      let isCut = state.isPruningCut && state.busy.isEmpty
      if isCut { state.isPruningCut = false }
      return (state.waiters.removeValue(forKey: job.id) ?? [], isCut)
    }
    for waiter in waiters { waiter.open() }
    if isPruningCut { pruneSoon() }
    endDrainIfQuiet()
  }

  /// As after a commit: see ``settle(_:)``.
  func settle(_ job: JobSnapshot) {
    let isNew = state.withLock { $0.settling.insert(job.id).inserted }
    if isNew { putAway([job]) }
  }
}
