// Short jobs would spend their time waiting for the disk: an end and the next claim are one transaction, and the lane does
// nothing while it is written. So of a lane whose jobs are short the next ones are looked up ahead, and begin as soon as the
// one before them has ended, while the ledger writes; many ends and claims share a transaction then.
//
// What holds all the same: no more operations of a lane run than may. A job's claim and its end are in the store in that
// order, or neither is, and then it is available as if it had never begun: what a kill leaves of it is what it leaves of a
// job whose end wasn't written. Whoever changes a job that has begun changes a running one, for its claim is written first
// (`LedgerTurn.apply`); one that hasn't begun doesn't begin any more but by a claim. The order is that of claims: what
// comes to stand before those that are next, or what isn't sure to be let in, makes them wait for the next claim.

import Foundation

extension JobQueue {
  /// How many of a lane's jobs are looked up, and of how few it is done again.
  private static let most = 256
  private static let few = 128

  /// Whether it is to be looked up what is next in a lane, because its jobs are short. In a turn that ends some.
  func looksAhead(in lane: String, after ended: [Int64]) -> Bool {
    state.withLock { state in
      (state.next[lane]?.count ?? 0) < Self.few && state.use.closed.isEmpty && state.unwritten.isEmpty
        && ended.contains { state.running[$0]?.isShort ?? false }
    }
  }

  /// How many available jobs of a lane a turn has to look at that claims so many and looks up the next.
  func reach(in lane: String, claims: Int) -> Int { Self.most + claims + ahead(in: lane) }

  /// Looks up what is next in a lane, after the turn's claims.
  func lookAhead(in lane: String, _ turn: LedgerTurn, claimed: Int) throws {
    guard state.withLock({ $0.use.closed.isEmpty }) else { return }
    let limit = reach(in: lane, claims: claimed)
    let jobs = try turn.available(in: lane, besides: [], limit: limit).filter { $0.jobState == .available }
    var next: [QueueState.Next] = []
    for job in jobs {
      let access = operations.access(of: job.kind)
      // One that is to have its store alone lets none pass.
      guard access != .exclusive, operations.factory(for: job.kind) != nil else { break }
      next.append(.init(job: try job.snapshot(), access: access))
    }
    state.withLock { state in
      // Those that have begun meanwhile are in the store as they were.
      state.next[lane] = next.filter { !state.hasBegun($0.job.id) }.prefix(Self.most)
    }
  }

  /// How many available jobs of a lane have begun, or may begin at any time.
  func ahead(in lane: String) -> Int { state.withLock { $0.ahead(in: lane) } }

  func ledgerWillChange(_ id: Int64, in lane: String) -> Bool {
    state.withLock { state in
      if let running = state.running[id] { return !running.isClaimed }
      if let beginning = state.beginning[id] { return !beginning.isClaimed }
      if let place = state.next[lane]?.firstIndex(where: { $0.job.id == id }) { state.next[lane]?.remove(at: place) }
      return false
    }
  }

  /// Puts the claim of a job in line that has a slot.
  /// - Returns: its operation, which is to run now.
  func beginAhead(_ job: JobSnapshot) -> JobOperation? {
    var begun = job
    begun.state = .running
    begun.startedAt = clock.now()
    begun.attempt += 1
    let operation = prepare(begun)
    writeClaims()
    return operation
  }

  /// Puts in line that the claims of all are written that have begun without one. The end of a job that is quicker is
  /// written with its claim.
  private func writeClaims() {
    let isComing = state.withLock { state in
      defer { state.areClaimsComing = true }
      return state.areClaimsComing
    }
    guard !isComing else { return }
    ledger.write({ [weak self] turn in
      let begun = self?.state.withLock { state in
        state.areClaimsComing = false
        return state.unclaimed
      }
      for id in begun ?? [] {
        do {
          let job = try turn.job(id)
          if turn.hasBegun(job) { try turn.claim(job) }
        } catch JobQueueError.noSuchJob {
          // What is to be said of it is said at its end.
          continue
        }
      }
      return {}
    }) { [weak self] (result: Result<Void, any Error>) in
      guard let self, case .failure(let error) = result else { return }
      report(error, "that jobs have begun couldn't be written")
    }
  }

  /// Notes that a job's claim is durable, which has begun ahead of it.
  /// - Returns: whether it had.
  func noteClaim(of job: JobSnapshot) -> Bool {
    state.withLock { state in
      state.beginning[job.id]?.isClaimed = true
      state.running[job.id]?.isClaimed = true
      return state.hasBegun(job.id)
    }
  }

  /// Asks a job's operation to stop.
  func stop(_ id: Int64) {
    let operation = state.withLock { state in
      state.beginning[id]?.isStopped = true
      return state.running[id]?.operation
    }
    operation?.cancel()
  }
}

extension QueueState {
  /// Seconds that a job takes at most for the next ones to be looked up.
  private static let short: TimeInterval = 0.02

  /// The operation of a job has ended: the next of its lane, if there is one that may have its slot.
  mutating func passOnSlot(of id: Int64, at time: Date) -> JobSnapshot? {
    guard let running = running[id], !running.hasPassedOn else { return nil }
    self.running[id]?.isShort = time.timeIntervalSince(running.begun) <= Self.short
    guard isStarted, !isDraining, unwritten.isEmpty, let next = next[running.lane]?.first,
      slots(of: running.lane, ended: 1, at: time) > 0, letsIn(next, after: running)
    else { return nil }
    self.next[running.lane]?.removeFirst()
    self.running[id]?.hasPassedOn = true
    passedOn[running.lane, default: 0] += 1
    let job = next.job
    beginning[job.id] = Beginning(lane: running.lane)
    _ = use.enter(.init(id: job.id, kind: job.kind, lane: job.lane), store: job.store, access: next.access)
    return job
  }

  /// Into a store where the job before it still counts as working: so no claim that is being made has given it away.
  private func letsIn(_ next: Next, after running: Running) -> Bool {
    guard let store = next.job.store, next.access != .none else { return true }
    return running.access == .shared && running.snapshot.store == store
      && use.obstacle(to: next.job.id, store: store, access: .shared) == nil
  }

  func hasBegun(_ id: Int64) -> Bool { running[id] != nil || beginning[id] != nil }

  /// The jobs that have begun and whose claims aren't durable, in their order.
  var unclaimed: [Int64] {
    let begun = running.filter { !$0.value.isClaimed }.map(\.key)
    return (begun + beginning.filter { !$0.value.isClaimed }.map(\.key)).sorted()
  }

  func ahead(in lane: String) -> Int {
    (next[lane]?.count ?? 0) + beginning.values.count { $0.lane == lane && !$0.isClaimed }
      + running.values.count { $0.lane == lane && !$0.isClaimed }
  }

  /// A job was changed. If it stands before those of its lane that are next now, these aren't.
  mutating func putInOrder(_ job: JobSnapshot) {
    guard job.state == .available, let last = next[job.lane]?.last?.job else { return }
    if job.priority > last.priority || (job.priority == last.priority && job.id < last.id) { next[job.lane] = nil }
  }
}
