// From a claim to the end of an operation.
//
// Usually a job is claimed first and runs when its claim is durable. Short jobs would then spend their time waiting for the
// disk: an end and the next claim are one transaction, and the lane does nothing while it is written. A lane whose jobs are
// short therefore looks up its next jobs ahead. Each begins as soon as the one before it has ended, in its slot, while the
// ledger writes, so that many ends and claims share a transaction.
//
// What holds all the same:
// 1. No more operations of a lane run than may.
// 2. A job's claim and its end are in the store in that order, or neither is. In the second case the job is available, as if
//    it had never begun; a kill leaves no more than it leaves of a job whose end wasn't written.
// 3. A change of a job that has begun is a change of a running job, because its claim is written first (`LedgerTurn.apply`).
//    A job that is changed before it has begun begins only by a claim.
// 4. The order is that of claims. A job that comes to stand before those that are next, or one that may not be let in, makes
//    them wait for the next claim.
//
// An operation can't be ended from outside. One that runs past its time is asked to stop, as by a cancellation, and what it
// answers becomes a failure. Until it answers it keeps its slot.

import Foundation
import Logging
import ManagedObjects

extension JobQueue {
  /// Starts the operation of a job that was claimed.
  func run(_ job: Job) {
    if let operation = prepare(job) { state.lane(job.lane)?.run(operation) }
  }

  /// Makes the operation of a job that was claimed, or whose claim is about to be written.
  /// - Returns: nil where there is no such operation, which ends the job.
  private func prepare(_ job: Job) -> JobOperation? {
    var environment = environment
    for (key, value) in job.logMetadata { environment.logger[metadataKey: key] = value }
    if let stores = environment.presentStores { environment.dataStores = stores() }
    environment.report = { [weak self] in self?.note($0, of: job.id) }
    environment.isOwn = { [ledger] in try ledger.isOwn($0) }
    if let files, job.sharedFile != nil {
      environment.fetchFile = { try files.fetch($0) }
      environment.rejectCopy = sharedRejects(of: job)
    }
    environment.changeJobs = { [weak self] operation in
      guard let self else { return .interrupted(operation.job.progress) }
      return try await changeJobs(for: operation)
    }
    let factory = operations.factory(for: job.kind)
    let operation = factory?(job, environment) ?? JobOperation(job: job, environment: environment)
    let access = operations.access(of: job.kind, job.options)
    let limit = limit(of: job)
    let id = job.id
    operation.whenDone { [weak self] in self?.operationDidEnd(id) }
    let news = state.begin(operation, job, access: access, limit: limit, at: clock.now())
    sharing?.hasten(self)
    if news.isStopped { operation.cancel() }
    if news.isDraining { operation.drain() }
    if let limit { wake(at: limit.time) }
    if state.lane(job.lane) != nil, factory != nil { return operation }
    // It was submitted under another configuration.
    let failure = JobFailure(
      code: "unknown_kind", message: "no operation is known for jobs of the kind \(job.kind)", isRetryable: false)
    write(.failed(failure, job.progress), of: job.id)
    return nil
  }

  /// Takes note of progress and passes it on.
  private func note(_ progress: JobProgress, of id: Int64) {
    guard let news = state.note(progress, of: id, at: clock.now()) else { return }
    delegate?.jobQueue(self, didReport: progress, of: news.before)
    if let after = news.after { logger.logProgress(of: after) }
  }

  /// Called on the operation's thread, also for an operation that was cancelled before it ran.
  /// - Returns: what follows in its slot.
  private func operationDidEnd(_ id: Int64) -> JobOperation? {
    let (outcome, next) = state.operationDidEnd(id, at: clock.now())
    guard let outcome else { return nil }
    // Its end first, then what follows: they are written in this order.
    write(outcome, of: id)
    return next.flatMap { beginAhead($0) }
  }

  /// Makes the end of an operation durable. Its slot is free after that.
  func write(_ outcome: JobOutcome, of id: Int64) {
    let jitter = random()
    guard let claim = state.claim(of: id) else { return }
    ledger.write({ turn in
      let job = try turn.job(id, claimedAs: claim)
      try turn.record(outcome, of: job, jitter: jitter)
      return {}
    }) { [weak self] (result: Result<Void, any Error>) in
      guard let self, case .failure(let error) = result else { return }
      switch error {
      case JobQueueError.superseded, is SupersededSave: giveUp(id, error)
      case JobQueueError.noSuchJob, JobQueueError.notPossible, JobQueueError.unreadable: forget(id, error)
      default:
        state.noteUnwritten(outcome, of: id)
        report(error, "the end of a job couldn't be written", job: id)
      }
    }
  }

  /// Another program has changed the job, which isn't this queue's any more.
  private func forget(_ id: Int64, _ error: any Error) {
    logger.error(
      "job \(id): its end was lost, for its row was changed by another program",
      metadata: ["job": "\(id)", "error": "\(error)"])
    letGo(of: id)
  }

  /// Another has taken the job over, whose state and files are left to it.
  private func giveUp(_ id: Int64, _ error: any Error) {
    logger.notice("job \(id): another has taken it over", metadata: ["job": "\(id)", "reason": "\(error)"])
    letGo(of: id)
  }

  private func letGo(of id: Int64) {
    for waiter in state.forget(id) { waiter.open() }
    endDrainIfQuiet()
  }

  /// Asks a job's operation to stop.
  func stop(_ id: Int64) { state.stop(id)?.cancel() }

  // MARK: Beginning ahead of the claim

  /// How many available jobs of a lane a turn has to look at that makes some claims and looks up the next.
  func reach(in lane: String, claims: Int) -> Int { UpcomingJobs.most + claims + state.ahead(in: lane) }

  /// Looks up the next jobs of a lane, after the turn's claims.
  func lookAhead(in lane: String, _ turn: LedgerTurn, claimed: Int) throws {
    guard state.mayLookAhead else { return }
    let limit = reach(in: lane, claims: claimed)
    let jobs = try turn.available(in: lane, besides: [], limit: limit).filter { $0.jobState == .available }
    var next: [UpcomingJobs.Next] = []
    for job in jobs {
      let access = operations.access(of: job.kind, job.options)
      // One that is to have its store to itself lets none pass.
      guard access != .exclusive, operations.factory(for: job.kind) != nil else { break }
      next.append(.init(job: try job.snapshot(), access: access))
    }
    state.set(upcoming: next, in: lane)
  }

  /// Puts the claim of a job in line that was passed a slot on.
  /// - Returns: its operation, which is to run now.
  private func beginAhead(_ job: Job) -> JobOperation? {
    var begun = job
    begun.state = .running
    begun.startedAt = clock.now()
    begun.attempt += 1
    begun.claim += 1
    let operation = prepare(begun)
    writeClaims()
    return operation
  }

  /// Puts a request in line that writes the claims of all that have begun without one. The end of a job that is quicker is
  /// written with its claim.
  private func writeClaims() {
    guard state.requestClaims() else { return }
    ledger.write({ [weak self] turn in
      for id in self?.state.takeUnclaimed() ?? [] {
        do {
          let job = try turn.job(id)
          if turn.hasBegun(job) { try turn.claim(job) }
        } catch JobQueueError.noSuchJob {
          // Its end reports that.
          continue
        }
      }
      return {}
    }) { [weak self] (result: Result<Void, any Error>) in
      guard let self, case .failure(let error) = result else { return }
      report(error, "that jobs have begun couldn't be written")
    }
  }

  // MARK: Limits of time

  /// When an operation that begins now is to be stopped.
  private func limit(of job: Job) -> RunningJobs.Limit? {
    let begun = job.startedAt ?? clock.now()
    let timeout = job.timeout.map { seconds in
      RunningJobs.Limit(
        time: begun.addingTimeInterval(seconds), isDeadline: false,
        failure: JobFailure(
          code: "timeout", message: "it took longer than the \(Self.text(seconds)) that an attempt may take",
          isRetryable: true))
    }
    let deadline = job.deadline.map {
      RunningJobs.Limit(
        time: $0, isDeadline: true,
        failure: JobFailure(code: "deadline", message: "its deadline passed while it ran", isRetryable: false))
    }
    guard let timeout, let deadline else { return timeout ?? deadline }
    return timeout.time < deadline.time ? timeout : deadline
  }

  /// Asks operations to stop whose time is over.
  /// - Returns: when to look again; nil if no limit is ahead.
  func stopOverdue() -> Date? {
    let (overdue, next) = state.takeOverdue(at: clock.now())
    for (id, operation) in overdue {
      logger.warning("job \(id): its time is over, and it is asked to stop", metadata: ["job": "\(id)"])
      operation.cancel()
    }
    return next
  }

  private static func text(_ seconds: TimeInterval) -> String {
    seconds < 120 ? "\(seconds.formatted()) s" : Duration.seconds(seconds).formatted(.time(pattern: .hourMinuteSecond))
  }
}

// MARK: What follows from a commit

// All of it runs on the ledger's queue, in the order of the changes.

extension JobQueue: LedgerObserver {
  func hasLane(_ name: String) -> Bool { state.lane(name) != nil }

  var watchedRecipes: Set<String> { state.watchedRecipes }

  func isOfThisHost(store: String) -> Bool {
    let stores = environment.presentStores?() ?? environment.dataStores
    return stores[store]?.persistentStores.contains { !($0.content is any SharedStore) } ?? false
  }

  func ledgerWillChange(_ id: Int64, in lane: String) -> Int64? { state.willChange(id, in: lane) }

  /// The next job is claimed in the transaction that ends the one before, so that a job costs one and not two.
  func ledgerWillCommit(_ turn: LedgerTurn) throws {
    let now = clock.now()
    if membership != nil { return try claimBesideOthers(turn, at: now) }
    var scope = claimScope
    for (lane, ids) in turn.endedByLane {
      guard let slots = state.slots(of: lane, after: ids, at: now) else { continue }
      do {
        let looksAhead = state.looksAhead(in: lane, after: ids)
        // Looked up once for both.
        if looksAhead { _ = try turn.available(in: lane, besides: [], limit: reach(in: lane, claims: slots)) }
        let claimed = slots > 0 ? try turn.claim(lane: lane, limit: slots, &scope) : 0
        if looksAhead { try lookAhead(in: lane, turn, claimed: claimed) }
      } catch {
        report(error, "no job of lane \(lane) could be claimed")
      }
    }
    claimOffered(by: turn, at: now, &scope)
    state.takeNext(of: scope.use)
  }

  /// The same where other daemons claim, too. An error in the turn's transaction is the whole turn's.
  private func claimBesideOthers(_ turn: LedgerTurn, at now: Date) throws {
    var scope = claimScope
    for (lane, ids) in turn.endedByLane {
      guard let slots = state.slots(of: lane, after: ids, at: now), slots > 0,
        let configuration = state.controls[lane]?.configuration
      else { continue }
      // The ends don't wait for a lane that another daemon looks at: a turn of its own follows.
      let room = try turn.room(in: configuration, limit: slots, scope, waits: false)
      if room > 0 { _ = try turn.claim(lane: lane, limit: room, &scope) }
    }
    state.takeNext(of: scope.use)
  }

  /// In a lane where nothing waits, new jobs are claimed by the transaction that makes them.
  private func claimOffered(by turn: LedgerTurn, at now: Date, _ scope: inout ClaimScope) {
    for (lane, jobs) in turn.offeredByLane {
      let slots = state.slotsForNew(in: lane, at: now)
      guard slots > 0 else { continue }
      do {
        try turn.claim(jobs, limit: slots, &scope)
      } catch {
        report(error, "no job of lane \(lane) could be claimed")
      }
    }
  }

  private var claimScope: ClaimScope {
    var scope = ClaimScope(
      use: state.use, ahead: { [state] in state.ahead(in: $0) },
      access: { [operations] in operations.access(of: $0.kind, $0.options) })
    scope.latestStarts = ledger.latestStarts
    scope.noteStarts = { [state] in state.set(starts: $1, of: $0) }
    return scope
  }

  func ledgerDidCommit(_ changes: [LedgerChange]) {
    let delegate = delegate
    var ended: [Job] = []
    for change in changes {
      let job = change.job
      for step in change.steps { logger.log(step, of: job) }
      var change = change
      let isElsewhere = !runsAnywhere(job)
      if isElsewhere { change.actions.removeAll { $0 == .settle } }
      state.note(change)
      if membership != nil, change.from == .running { state.noteWork(in: job.lane) }
      if isElsewhere, job.state.isEnded { for waiter in state.takeWaiters(for: job.id) { waiter.open() } }
      if !change.isRemoved { delegate?.jobQueue(self, didMove: job, from: change.from) }
      for action in change.actions {
        switch action {
        case .offer:
          if job.state == .available {
            state.noteWork(in: job.lane)
            membership?.announce()
          }
        case .wake(let time):
          wake(at: time)
          // Then they know the time, too, in case that this daemon is gone by then.
          membership?.announce()
        case .run: if job.state == .running, !state.noteClaim(of: job.id) { run(job) }
        case .stop: stop(job.id)
        case .settle:
          if !job.isBeforeArrival { ended.append(job) }
          pruner.wake(for: job, of: self)
        }
      }
      if change.isRemoved { clearAway(job) }
    }
    putAway(ended)
    if membership == nil { pruner.pruneIfMany(self) }
    endDrainIfQuiet()
  }

  func ledgerDidEndTurn() { claimWork() }

  /// Claims jobs for the free slots of every lane that may have work. On the ledger's queue.
  func claimWork() {
    let now = clock.now()
    let (candidates, limited) = state.lanesWithWork(at: now)
    if let next = limited.min() { wake(at: next) }
    for lane in candidates {
      let slots = state.slots(of: lane, at: now)
      guard slots > 0 else { continue }
      var scope = claimScope
      if membership != nil { scope.lane = state.controls[lane]?.configuration }
      do {
        let claimed = try ledger.claim(lane: lane, limit: slots, &scope)
        state.noteClaims(claimed, for: slots, in: lane, scope.use)
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
    let (waiters, prunesAgain) = state.endPuttingAway(job.id)
    for waiter in waiters { waiter.open() }
    if prunesAgain { pruner.pruneSoon(self) }
    endDrainIfQuiet()
  }

  /// As after a commit: see ``settle(_:)``.
  func settle(_ job: Job) {
    if state.beginPuttingAwayAgain(job.id) { putAway([job]) }
  }
}

// MARK: Pruning

extension JobQueue: JobPruner.Subject {
  var mayPrune: Bool { state.isOpen }

  var retention: JobRetention { state.retention }

  func endedJobs() -> (count: Int, busy: Set<Int64>) {
    var counts = state.counts
    if counts == nil, membership != nil {
      do {
        counts = try ledger.count(lanes: [], in: ledger.context)
      } catch {
        report(error, "what has ended couldn't be counted", job: nil)
      }
    }
    return (JobState.allCases.filter(\.isEnded).reduce(0) { $0 + (counts?[$1] ?? 0) }, state.settling)
  }

  func notePruningCut() -> Bool { state.notePruningCut() }
}

extension LedgerTurn {
  /// Moves a job as its operation's outcome says.
  func record(_ outcome: JobOutcome, of job: JobRecord, jitter: Double) throws {
    job.progress = outcome.progress
    switch outcome {
    case .completed(_, let note):
      job.failureCode = nil
      job.note = note
      try apply(.succeeded, to: job, reason: note ?? "done", by: nil)
      try noteRun(of: job)
    case .cancelled: try apply(.cancelled, to: job, reason: job.cancelReason, by: nil)
    case .interrupted:
      let reason = job.isCancelRequested ? job.cancelReason : "the daemon stopped"
      try apply(.interrupted, to: job, reason: reason, by: nil)
    case .failed(let failure, _):
      job.failureCode = failure.code
      let event = JobEvent.failed(isRetryable: failure.isRetryable, jitter: jitter)
      try apply(event, to: job, reason: failure.message, by: nil)
    }
  }
}

extension JobRecord {
  /// The reason that was given for stopping a running job.
  var cancelReason: String { isCancelRequested ? reason ?? "cancelled" : "cancelled by its operation" }
}
