// The second half of rule 6 (ARCHITECTURE.md): every transition is recorded with its time, its reason and who asked for it, in
// the transaction that makes it. All changes of jobs go through `apply`.
//
// A job that follows others has a row for each. When one of these ends, its rows are settled in the same transaction, so
// that a kill leaves no job waiting for one that has ended. Only jobs that are followed are looked up for.
//
// A batch counts its jobs in the transactions that end them, so that its callback runs once, whenever the daemon is
// killed.

import Foundation
import ManagedObjects

/// A job that a turn has changed, in its new state, and the actions that follow.
struct LedgerChange: Sendable {
  var job: Job
  /// Its state before the turn; nil if it is new.
  var from: JobState?
  var actions: [JobAction]
  /// The transitions that the turn has recorded, oldest first.
  var steps: [JobTransition] = []
  /// Whether it was removed from the store.
  var isRemoved = false
}

/// One transaction of the ledger while it is made. Lives on the ledger's queue, during one turn.
final class LedgerTurn {
  let context: ManagedObjectContext
  let now: Date
  private let backoff: Backoff
  private let observer: (any LedgerObserver)?
  /// The daemon that makes it, where several share the queue.
  let daemon: QueueMembership?
  private var changes: [(job: JobRecord, from: JobState?, actions: [JobAction], steps: [JobTransition])] = []
  private var places: [ObjectIdentifier: Int] = [:]
  private var removals: [LedgerChange] = []
  /// Jobs that are new, or have their files now.
  private var arrivals: [JobRecord] = []
  /// Jobs that have ended or were retried in this turn, whose followers and batches have to be updated.
  private var endings: [(job: JobRecord, from: JobState?)] = []
  private var isUpdatingFollowers = false
  /// The first jobs of each lane that were available when the turn began, as far as they were looked up.
  /// Not private: the claims of the turn (`JobLedger+Claim`) keep it.
  var lookedUp: [String: (closed: Set<String>, limit: Int, jobs: [JobRecord])] = [:]
  /// The stores that it keeps other daemons from having alone. Not private for the same reason.
  var sharedStores: Set<String> = []

  init(
    context: ManagedObjectContext, now: Date, backoff: Backoff, observer: (any LedgerObserver)? = nil,
    daemon: QueueMembership? = nil
  ) {
    self.daemon = daemon
    self.observer = observer
    self.context = context
    self.now = now.asStored
    self.backoff = backoff
  }

  /// - Throws: ``JobQueueError/unknownLane(_:known:)`` for a lane that isn't there any more: who asked may have asked before.
  func check(lane: String) throws {
    guard let observer, !observer.hasLane(lane) else { return }
    throw JobQueueError.unknownLane(lane, known: observer.lanesNow)
  }

  /// Whether a job belongs to the host where it is submitted, where daemons on several share the queue: its file is there, or the
  /// store that it works on.
  func belongsHere(_ submission: JobSubmission) -> Bool {
    if submission.source != nil || submission.activeName != nil || submission.awaitsFile { return true }
    return submission.store.map { observer?.isOfThisHost(store: $0) ?? false } ?? false
  }

  /// Whether completed imports of a recipe are noted.
  func isWatched(_ recipe: String) -> Bool { observer?.watchedRecipes.contains(recipe) ?? false }

  /// The job of that number.
  /// - Throws: ``JobQueueError/noSuchJob(_:)``, or the store's error.
  func job(_ id: Int64) throws -> JobRecord {
    guard let job = try existing(JobRecord.self, QueueModel.job, id) else { throw JobQueueError.noSuchJob(id) }
    return job
  }

  /// The job of an operation, if its claim is still the latest: what the operation has to say is then this job's. With the
  /// optimistic locking of the save this compares and sets.
  /// - Throws: ``JobQueueError/superseded(id:claim:by:)``; or as ``job(_:)``.
  func job(_ id: Int64, claimedAs claim: Int64) throws -> JobRecord {
    let job = try job(id)
    if hasBegun(job) { try self.claim(job) }
    guard job.claim == claim else { throw JobQueueError.superseded(id: id, claim: claim, by: job.claim) }
    return job
  }

  private func existing<Record: ManagedObject>(_ type: Record.Type, _ entity: String, _ number: Int64) throws -> Record?
  {
    let id = try context.persistentStoreCoordinator.managedObjectID(entity: entity, number: number)
    do {
      return try context.existingObject(with: id) as? Record
    } catch ManagedObjectError.objectNotFound {
      return nil
    }
  }

  /// Moves a job, records it, and notes what is to be done.
  /// - Throws: ``JobQueueError/notPossible(id:_:)``; nothing has changed then.
  func apply(_ event: JobEvent, to job: JobRecord, reason: String, by who: String?) throws {
    if case .claimed = event {
      _ = hasBegun(job)
    } else if hasBegun(job) {
      try claim(job)
    }
    let before = job.machine(backoff)
    var after = before
    let actions: [JobAction]
    do {
      actions = try after.apply(event, at: now)
    } catch {
      throw JobQueueError.notPossible(id: job.objectID.number, error)
    }
    var step: JobTransition?
    if after != before {
      job.take(after)
      if let daemon { note(daemon, of: job, before.state) }
      // The reason of its end stays, whatever follows.
      if before.state?.isEnded != true || after.state != before.state { job.reason = reason }
      step = try insert(from: before.state, to: after.state, reason: reason, by: who, of: job)
      if after.state == .completed, job.sharedFile != nil {
        try deleteFiles(of: job.objectID.number, onlySource: true)
      }
      if after.state?.isEnded == true, job.isAwaitingFile, job.origin?.endsWithoutFile == true { job.origin = nil }
    } else if actions.isEmpty {
      return
    }
    note(job, from: before.state, actions, step)
    if before.state?.isEnded != after.state?.isEnded, before.state != nil { try tell(job, from: before.state) }
  }

  /// Notes which daemon runs a job, where several share the queue. An import belongs to the host where it has begun: what it has
  /// rejected is there.
  private func note(_ daemon: QueueMembership, of job: JobRecord, _ before: JobState?) {
    if job.jobState == .running {
      if before != .running { job.owner = daemon.incarnation }
      if job.host == nil, job.kind == ImportOperation.kind { job.host = daemon.host }
    } else if job.owner != nil {
      job.owner = nil
    }
  }

  /// Makes two turns of different daemons that change what a job waits for, or is waited for by, a conflict: each of them would
  /// have missed what the other does.
  private func noteDependency(of job: JobRecord) {
    if daemon != nil { job.revision += 1 }
  }

  /// Whether an available job's operation has begun, so that its claim has to be written. If not, it now begins only by a
  /// claim.
  func hasBegun(_ job: JobRecord) -> Bool {
    guard let observer, job.jobState == .available, !job.objectID.isTemporaryID else { return false }
    // One that was rescued from this process is available, too, under a number that it hasn't begun with.
    return observer.ledgerWillChange(job.objectID.number, in: job.lane) == job.claim + 1
  }

  /// Writes that a job's operation begins, or has begun.
  func claim(_ job: JobRecord) throws {
    try apply(.claimed, to: job, reason: "attempt \(job.attempt + 1) of \(job.maxAttempts)", by: nil)
  }

  /// Records something about a job that doesn't move it.
  func record(_ job: JobRecord, reason: String, by who: String) throws {
    if hasBegun(job) { try claim(job) }
    let step = try insert(from: job.jobState, to: job.jobState, reason: reason, by: who, of: job)
    note(job, from: job.jobState, [], step)
  }

  private func insert(
    from: JobState?, to: JobState?, reason: String, by who: String?, of job: JobRecord
  ) throws -> JobTransition? {
    let transition = try context.insert(TransitionRecord.self)
    transition.at = now
    transition.fromState = from
    transition.toState = to
    transition.reason = reason
    transition.requestedBy = who
    transition.job = job
    return to.map { JobTransition(at: now, from: from, to: $0, reason: reason, by: who) }
  }

  /// Notes that a job is new, or has its file now: if it may run, this turn may claim it.
  func noteArrival(_ job: JobRecord) { arrivals.append(job) }

  /// Has the file of an ended job put away.
  func settle(_ job: JobRecord) { note(job, from: job.jobState, [.settle]) }

  /// Takes a job that has ended out of the store.
  func remove(_ job: JobRecord) throws {
    removals.append(LedgerChange(job: try job.snapshot(), from: job.jobState, actions: [], isRemoved: true))
    if let number = job.batch { try leaveBatch(number, job) }
    // A daemon may have been killed after it had written the file of a job that doesn't name it.
    if daemon != nil, job.kind == ImportOperation.kind { try deleteFiles(of: job.objectID.number, onlySource: false) }
    context.delete(job)
  }

  /// Updates the followers of a job and its batch, then theirs. A loop, because a chain may be long.
  private func tell(_ job: JobRecord, from: JobState?) throws {
    endings.append((job, from))
    guard !isUpdatingFollowers else { return }
    isUpdatingFollowers = true
    defer { isUpdatingFollowers = false }
    while let next = endings.popLast() {
      if next.job.jobState?.isEnded == true, next.job.isFollowed { try settleFollowers(of: next.job) }
      if let number = next.job.batch { try countInBatch(number, next.job, from: next.from) }
    }
  }

  private func note(
    _ job: JobRecord, from: JobState?, _ actions: [JobAction], _ step: JobTransition? = nil
  ) {
    let steps = step.map { [$0] } ?? []
    if let place = places[ObjectIdentifier(job)] {
      changes[place].actions += actions
      changes[place].steps += steps
    } else {
      places[ObjectIdentifier(job)] = changes.count
      changes.append((job, from, actions, steps))
    }
  }

  /// The jobs of each lane that stop running by this turn, those among them that it claims itself.
  var endedByLane: [String: [Int64]] {
    changes.reduce(into: [:]) { ended, change in
      let ran = change.from == .running || change.actions.contains(.run)
      if ran, change.job.jobState != .running { ended[change.job.lane, default: []].append(change.job.objectID.number) }
    }
  }

  /// The jobs of each lane that have come by this turn and may run, in the order of claims.
  var offeredByLane: [String: [JobRecord]] {
    if arrivals.isEmpty { return [:] }
    return Dictionary(grouping: arrivals.lazy.filter { $0.jobState == .available }, by: \.lane).mapValues { jobs in
      jobs.enumerated().sorted { left, right in
        let (one, other) = (left.element, right.element)
        if one.priority != other.priority { return one.priority > other.priority }
        // New ones get their numbers in the order in which they were made.
        if one.objectID.isTemporaryID != other.objectID.isTemporaryID { return other.objectID.isTemporaryID }
        return one.objectID.isTemporaryID ? left.offset < right.offset : one.objectID.number < other.objectID.number
      }.map(\.element)
    }
  }

  /// Commits the turn.
  func save() throws -> [LedgerChange] {
    try context.save()
    return try changes.map {
      LedgerChange(job: try $0.job.snapshot(), from: $0.from, actions: $0.actions, steps: $0.steps)
    } + removals
  }
}

extension LedgerTurn {
  /// Notes what a new job follows.
  /// - Returns: whether any of these hasn't ended.
  /// - Throws: ``JobQueueError/noSuchJob(_:)``, or ``JobQueueError/invalidSubmission(_:)`` when one has ended otherwise than
  ///   the new job wants.
  func follow(_ dependencies: [JobDependency], by job: JobRecord) throws -> Bool {
    var isWaiting = false
    for dependency in dependencies {
      let (followed, hasEnded) = try followed(by: dependency)
      let row = try context.insert(DependencyRecord.self)
      row.on = dependency.job
      row.condition = dependency.condition
      row.isSettled = hasEnded
      row.job = job
      if !hasEnded {
        isWaiting = true
        if !followed.isFollowed { followed.isFollowed = true }
        noteDependency(of: followed)
      }
    }
    return isWaiting
  }

  /// The job that a new one is to follow, and whether it has ended.
  func followed(by dependency: JobDependency) throws -> (job: JobRecord, hasEnded: Bool) {
    let followed = try self.job(dependency.job)
    let hasEnded = followed.jobState?.isEnded ?? false
    if hasEnded, dependency.condition == .succeeded, followed.jobState != .completed {
      throw JobQueueError.invalidSubmission(
        "job \(dependency.job), which it is to follow, is \(followed.jobState?.rawValue ?? "unknown"): retry that first"
      )
    }
    return (followed, hasEnded)
  }

  /// Releases the jobs that waited for a job that has ended, or cancels them.
  func settleFollowers(of followed: JobRecord) throws {
    let number = followed.objectID.number
    let state = followed.jobState ?? .discarded
    for row in try rows(.equal(DependencyRecord.Key.on.name, .int(number))) where !row.isSettled {
      row.isSettled = true
      guard let job = row.job, job.isAwaitingJobs else { continue }
      noteDependency(of: job)
      if row.condition == .succeeded, state != .completed {
        let reason = "job \(number), which it was to follow, was \(state == .cancelled ? "cancelled" : "discarded")"
        try apply(.dependencyFailed, to: job, reason: reason, by: nil)
      } else if try rows(.equal(DependencyRecord.Key.job.name, .object(job.objectID))).allSatisfy(\.isSettled) {
        try apply(.dependenciesMet, to: job, reason: "job \(number), which it follows, has ended", by: nil)
      }
    }
  }

  private func rows(_ predicate: FetchPredicate) throws -> [DependencyRecord] {
    try context.fetch(FetchRequest<DependencyRecord>(entityName: QueueModel.dependency, predicate: predicate))
  }
}

extension LedgerTurn {
  /// The batch of that number.
  /// - Throws: ``JobQueueError/noSuchBatch(_:)``, or the store's error.
  func batch(_ number: Int64) throws -> BatchRecord {
    guard let batch = try existing(BatchRecord.self, QueueModel.batch, number) else {
      throw JobQueueError.noSuchBatch(number)
    }
    return batch
  }

  /// Puts a new job into a batch whose jobs haven't all ended.
  func join(_ number: Int64) throws {
    let batch = try openBatch(number)
    batch.total += 1
    batch.pending += 1
    batch.kept += 1
  }

  /// A batch that still accepts jobs.
  /// - Throws: ``JobQueueError/invalidSubmission(_:)`` when all of its jobs have ended.
  func openBatch(_ number: Int64) throws -> BatchRecord {
    let batch = try batch(number)
    guard batch.pending > 0 else {
      throw JobQueueError.invalidSubmission("all jobs of batch \(number) have ended: submit it without, or a new batch")
    }
    return batch
  }

  /// Counts a job of a batch that has ended, or is tried again.
  func countInBatch(_ number: Int64, _ job: JobRecord, from: JobState?) throws {
    let batch = try batch(number)
    guard job.jobState?.isEnded == true else {
      // Only one that hadn't succeeded can be tried again.
      batch.pending += 1
      batch.failed -= 1
      batch.endedAt = nil
      return
    }
    batch.pending -= 1
    if job.jobState != .completed { batch.failed += 1 }
    if batch.pending == 0 { try end(batch, number) }
  }

  private func end(_ batch: BatchRecord, _ number: Int64) throws {
    batch.endedAt = now
    guard let callback = batch.callback, batch.failed == 0 || batch.condition == .ended else { return }
    let job: JobRecord
    do {
      job = try self.job(callback)
    } catch JobQueueError.noSuchJob {
      return
    }
    guard job.isAwaitingJobs else { return }
    let failures = batch.failed == 0 ? "" : ", \(batch.failed) of them without success"
    let reason = "the \(batch.total) jobs of batch \(number) have ended\(failures)"
    try apply(.dependenciesMet, to: job, reason: reason, by: nil)
  }

  /// A job of a batch is removed; with the last goes the batch. Without one that hasn't succeeded the batch never can, so
  /// that a callback doesn't wait for it any longer.
  func leaveBatch(_ number: Int64, _ job: JobRecord) throws {
    let batch: BatchRecord
    do {
      batch = try self.batch(number)
    } catch JobQueueError.noSuchBatch {
      return
    }
    batch.kept -= 1
    if job.jobState != .completed { try giveUpCallback(of: batch, number, without: job.objectID.number) }
    if batch.kept <= 0 { context.delete(batch) }
  }

  private func giveUpCallback(of batch: BatchRecord, _ number: Int64, without removed: Int64) throws {
    guard let id = batch.callback, batch.condition == .succeeded else { return }
    let callback: JobRecord
    do {
      callback = try job(id)
    } catch JobQueueError.noSuchJob {
      return
    }
    guard callback.isAwaitingJobs else { return }
    let reason = "job \(removed) of batch \(number) was removed, and hadn't succeeded"
    try apply(.dependencyFailed, to: callback, reason: reason, by: nil)
  }
}
