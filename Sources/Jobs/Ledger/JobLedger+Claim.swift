// A claim takes the first entries of the index `claim`: the highest priority, and of one priority the lowest number.
// It reads no further than it takes, so that it costs the same with ten jobs waiting and with a million (rule 9, ARCHITECTURE.md); only
// while a job has a data store to itself, or is next to have it, does it pass over the other jobs of that store.
//
// What is `running` in the store when a process starts was run by a process that is gone: the store has one daemon, and
// this one hasn't claimed anything yet. Nothing is concluded from the time that has passed, so a live job is never run
// twice. Where several daemons share the queue, leases tell which of them are gone: see `JobLedger+Daemons`. There a claim
// locks the entries that it takes, and passes over those that others have locked (decision 0265).

import Foundation
import ManagedObjects

/// The input of the claims of a turn, and what they learn.
struct ClaimScope {
  /// Who works on which store, with what was claimed so far.
  var use: StoreUse
  /// The lane in which jobs are claimed, where several daemons share the queue; nil elsewhere.
  var lane: LaneConfiguration?
  /// When the latest jobs of a lane began: see ``JobLedger/latestStarts(lane:after:until:limit:)``.
  var latestStarts: (String, Date, Date, Int) throws -> [Date] = { _, _, _, _ in [] }
  /// Takes note of these, as the store has them.
  var noteStarts: (String, [Date]) -> Void = { _, _ in }
  /// How many available jobs of a lane have begun ahead of their claim, or may before this one is made.
  var ahead: @Sendable (String) -> Int = { _ in 0 }
  let access: @Sendable (JobRecord) -> StoreAccess
}

extension JobLedger {
  /// Claims up to `limit` jobs of a lane, on the ledger's queue, where the caller is.
  /// - Returns: how many there were.
  func claim(lane: String, limit: Int, _ scope: inout ClaimScope) throws -> Int {
    let before = scope
    return try turn { turn in
      // It may meet the turn of another daemon, and begin again.
      scope = before
      let room = try scope.lane.map { try turn.room(in: $0, limit: limit, scope) } ?? limit
      return try turn.claim(lane: lane, limit: room, &scope)
    }
  }
}

extension LedgerTurn {
  /// Claims up to `limit` of the jobs that were available in the lane before this turn.
  /// - Returns: how many there were.
  func claim(lane: String, limit: Int, _ scope: inout ClaimScope) throws -> Int {
    var claimed = 0
    for holder in scope.use.ready(lane: lane) where claimed < limit {
      let job: JobRecord
      do {
        job = try self.job(holder.id)
      } catch JobQueueError.noSuchJob {
        _ = scope.use.giveUp(holder.id)
        continue
      }
      guard job.jobState == .available, try claim(job, &scope) else {
        _ = scope.use.giveUp(holder.id)
        continue
      }
      claimed += 1
    }
    var passes = true
    while passes, claimed < limit {
      passes = false
      let closed = scope.use.closed
      // Those claimed a moment ago are available to the store still.
      let passed = claimed + scope.ahead(lane)
      for job in try available(in: lane, besides: closed, limit: limit + passed) where claimed < limit {
        guard job.jobState == .available, !hasBegun(job) else { continue }
        if try claim(job, &scope) {
          claimed += 1
        } else {
          // Its store was closed for it: those behind it that aren't of that store may run.
          passes = scope.use.closed != closed
        }
      }
    }
    return claimed
  }

  /// Claims up to `limit` of the jobs that this turn lets run, in a lane in which no other may: so a job that comes to a lane
  /// with nothing to do is claimed by the transaction that makes it.
  func claim(_ offered: [JobRecord], limit: Int, _ scope: inout ClaimScope) throws {
    guard scope.use.closed.isEmpty else { return }
    for job in offered.prefix(limit) {
      // One that is to have its store alone lets none pass, and is known by its number.
      guard scope.access(job) != .exclusive, try claim(job, &scope) else { return }
    }
  }

  private func claim(_ job: JobRecord, _ scope: inout ClaimScope) throws -> Bool {
    let holder = StoreUse.Holder(id: job.objectID.number, kind: job.kind, lane: job.lane)
    let access = scope.access(job)
    guard try look(at: job.store, access, &scope), scope.use.enter(holder, store: job.store, access: access) else {
      return false
    }
    try claim(job)
    return true
  }

  /// The first jobs that were available in a lane before this turn, without those of some stores.
  func available(in lane: String, besides closed: Set<String>, limit: Int) throws -> [JobRecord] {
    if let known = lookedUp[lane], known.closed == closed, limit <= known.limit || known.jobs.count < known.limit {
      return Array(known.jobs.prefix(limit))
    }
    let jobs = try lookUp(lane, besides: closed, limit: limit)
    lookedUp[lane] = (closed, limit, jobs)
    return jobs
  }

  private func lookUp(_ lane: String, besides closed: Set<String>, limit: Int) throws -> [JobRecord] {
    var wanted = FetchPredicate.equal(JobRecord.Key.lane.name, .string(lane)) && .isAvailable(to: daemon)
    if !closed.isEmpty {
      let names = closed.sorted().map { Value.string($0) }
      wanted = wanted && .not(.isIn(JobRecord.Key.store.name, names))
    }
    // With pending changes a context has to fetch everything that matches, and cut in memory.
    var request = FetchRequest<JobRecord>(
      entityName: QueueModel.job, predicate: wanted,
      sortDescriptors: [
        FetchSortDescriptor(JobRecord.Key.priority.name, ascending: false), FetchSortDescriptor("SELF"),
      ],
      fetchLimit: limit, includesPendingChanges: false)
    // Another daemon is claiming those.
    request.skipsLockedRows = daemon != nil
    return try context.fetch(request)
  }
}

extension FetchPredicate {
  /// Jobs that a daemon may claim: where several share the queue, those with files only on their host, unless the queue's store
  /// has these as well.
  static func isAvailable(to daemon: QueueMembership?) -> FetchPredicate {
    let isAvailable = FetchPredicate.equal(JobRecord.Key.state.name, .string(JobState.available.rawValue))
    guard let daemon else { return isAvailable }
    let host = JobRecord.Key.host.name
    let isFileInStore = FetchPredicate.notEqual(JobRecord.Key.sharedFile.name, .null)
    return isAvailable && (.equal(host, .null) || .equal(host, .string(daemon.host)) || isFileInStore)
  }
}

extension JobLedger {
  /// Puts back what an earlier process left running, on the ledger's queue, where the caller is. To be called before
  /// the first claim.
  /// - Parameter endBefore: how a job ended that had done all of its work.
  /// - Returns: how many there were.
  func rescue(_ endBefore: (Job) -> JobOutcome?) throws -> Int {
    try turn { turn in
      let running = FetchPredicate.equal(JobRecord.Key.state.name, .string(JobState.running.rawValue))
      let jobs = try turn.context.fetch(FetchRequest<JobRecord>(entityName: QueueModel.job, predicate: running))
      for job in jobs {
        try turn.rescue(job, reason: "the daemon ended while it ran", endBefore)
      }
      return jobs.count
    }
  }
}

extension LedgerTurn {
  /// Puts a job back whose owner is gone.
  /// - Parameter endBefore: how the job ended, if it had done all of its work.
  func rescue(_ job: JobRecord, reason: String, _ endBefore: (Job) -> JobOutcome?) throws {
    // Looking raises the fence to the number that the job gets, so that what is seen doesn't change any more.
    var snapshot = try job.snapshot()
    snapshot.claim += 1
    if let end = endBefore(snapshot) {
      job.claim = snapshot.claim
      return try record(end, of: job, jitter: 0)
    }
    try apply(.rescued, to: job, reason: job.isCancelRequested ? job.cancelReason : reason, by: nil)
    job.rescues += 1
  }
}
