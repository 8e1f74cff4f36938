// Rescue by lease, and by nothing else: that a job has run for long says nothing about its owner. The first daemon that finds a
// lease over marks its owner as gone, which fails if that has renewed the lease since. Then, in a transaction that begins after
// the mark is committed, so that no claim of that daemon can follow, its jobs are put back. A row is removed when no job names it
// any more.

import Foundation
import ManagedObjects

extension JobLedger {
  /// Jobs that are put back in one transaction, at most.
  private static let rescuedTogether = 100

  /// Puts back what daemons left running whose leases are over, on the ledger's queue, where the caller is.
  /// - Parameters:
  ///   - time: by the clock of the store.
  ///   - endBefore: how a job ended that had done all of its work.
  /// - Returns: how many jobs there were.
  func rescueGone(at time: Date, _ endBefore: (Job) -> JobOutcome?) throws -> Int {
    try markGone(at: time)
    let isGone = FetchPredicate.equal(DaemonRecord.Key.isGone.name, .bool(true))
    let gone = try context.fetch(FetchRequest<DaemonRecord>(entityName: QueueModel.daemon, predicate: isGone))
      .map { (incarnation: $0.incarnation, host: $0.host) }
    var count = 0
    for daemon in gone {
      var found = 0
      repeat {
        found = try turn { turn in
          let jobs = try turn.context.fetch(
            FetchRequest<JobRecord>(
              entityName: QueueModel.job, predicate: .equal(JobRecord.Key.owner.name, .string(daemon.incarnation)),
              fetchLimit: Self.rescuedTogether))
          for job in jobs {
            try turn.rescue(job, reason: "the daemon on \(daemon.host) that ran it is gone", endBefore)
          }
          if jobs.isEmpty, let row = try turn.daemonRow(daemon.incarnation) { turn.context.delete(row) }
          return jobs.count
        }
        count += found
      } while found > 0
    }
    return count
  }

  /// Marks daemons whose leases are over. The lease is removed with that, so that one which was renewed since is a conflict.
  private func markGone(at time: Date) throws {
    let isOver = FetchPredicate.comparison(.path(LeaseRecord.Key.until.name), .less, .constant(.date(time)))
    let request = FetchRequest<LeaseRecord>(entityName: QueueModel.lease, predicate: isOver)
    // Usually there is none.
    guard try context.count(for: request) > 0 else { return }
    try turn { turn in
      for lease in try turn.context.fetch(request) {
        try turn.daemonRow(lease.incarnation)?.isGone = true
        turn.context.delete(lease)
      }
    }
  }

  /// When the first lease is over that isn't renewed before, on the ledger's queue, where the caller is.
  func firstLeaseEnd() throws -> Date? {
    try context.fetch(
      FetchRequest<LeaseRecord>(
        entityName: QueueModel.lease, sortDescriptors: [FetchSortDescriptor(LeaseRecord.Key.until.name)], fetchLimit: 1)
    ).first?.until
  }

  /// Whether a job of some lanes is available that this daemon may run, on the ledger's queue, where the caller is.
  func hasAvailable(in lanes: [String]) throws -> Bool {
    let names = (lanes + [LaneConfiguration.changesName]).map { Value.string($0) }
    let request = FetchRequest<JobRecord>(
      entityName: QueueModel.job, predicate: .isIn(JobRecord.Key.lane.name, names) && .isAvailable(to: daemon),
      fetchLimit: 1)
    return try context.count(for: request) > 0
  }

  /// What other daemons have made of jobs that run here, on the ledger's queue, where the caller is.
  /// - Returns: the jobs that aren't this daemon's any more, and those that are to be cancelled.
  func changes(of running: [Job]) throws -> (lost: [Int64], stopped: [Int64]) {
    var lost: [Int64] = []
    var stopped: [Int64] = []
    for job in running {
      guard let row = try record(job.id), row.claim == job.claim, row.jobState == .running else {
        lost.append(job.id)
        continue
      }
      if row.isCancelRequested { stopped.append(job.id) }
    }
    return (lost, stopped)
  }

  /// Those of some jobs that have ended or aren't there any more, on the ledger's queue, where the caller is.
  func ended(among ids: [Int64]) throws -> [Int64] {
    try ids.filter { try record($0)?.jobState?.isEnded ?? true }
  }

  private func record(_ number: Int64) throws -> JobRecord? {
    let id = try context.persistentStoreCoordinator.managedObjectID(entity: QueueModel.job, number: number)
    return try context.fetch(
      FetchRequest<JobRecord>(
        entityName: QueueModel.job, predicate: .comparison(.evaluatedObject, .equal, .constant(.object(id))),
        fetchLimit: 1)
    ).first
  }

  /// The jobs that other daemons run now, and those that have ended since a time, up to `limit` of each state; on the ledger's
  /// queue, where the caller is.
  func news(since time: Date, limit: Int) throws -> [Job] {
    guard let daemon else { return [] }
    func inState(_ state: JobState) -> FetchPredicate { .equal(JobRecord.Key.state.name, .string(state.rawValue)) }
    var requests = [inState(.running) && .notEqual(JobRecord.Key.owner.name, .string(daemon.incarnation))]
    for state in JobState.allCases where state.isEnded {
      requests.append(
        inState(state) && .comparison(.path(JobRecord.Key.endedAt.name), .greater, .constant(.date(time))))
    }
    return try requests.flatMap { wanted in
      try context.fetch(FetchRequest<JobRecord>(entityName: QueueModel.job, predicate: wanted, fetchLimit: limit))
        .map { try $0.snapshot() }
    }
  }

  /// The daemons that work on the queue, those first that started first.
  func daemons() async throws -> [QueueDaemon] {
    let own = daemon?.incarnation
    return try await reader.perform { context in
      let leases = try context.fetch(FetchRequest<LeaseRecord>(entityName: QueueModel.lease))
      let until = Dictionary(leases.map { ($0.incarnation, $0.until) }) { first, _ in first }
      return try context.fetch(
        FetchRequest<DaemonRecord>(
          entityName: QueueModel.daemon,
          sortDescriptors: [FetchSortDescriptor(DaemonRecord.Key.startedAt.name), FetchSortDescriptor("SELF")])
      ).map { row in
        QueueDaemon(
          incarnation: row.incarnation, host: row.host, process: row.process, version: row.version,
          startedAt: row.startedAt, leaseUntil: until[row.incarnation],
          running: try context.count(
            for: FetchRequest<JobRecord>(
              entityName: QueueModel.job, predicate: .equal(JobRecord.Key.owner.name, .string(row.incarnation)))),
          isThis: row.incarnation == own)
      }
    }
  }

  /// Makes the daemon's host name that of its state folder, and gives the jobs that the folder has under a former name this one;
  /// on the ledger's queue, where the caller is.
  /// - Returns: the former name, and how many jobs there were; nil if the name is the same, or the first.
  /// - Throws: ``QueueMembership/HostTaken``, or the store's error. Nothing has changed then.
  func takeHost() throws -> (former: String, jobs: Int)? {
    guard let daemon, let folder = daemon.identity.folder else { return nil }
    defer { context.reset() }
    return try turn { turn in
      // Of two daemons that start at the same time one sees the other's.
      _ = try daemon.lock("hosts", waits: true)
      let hosts = try turn.context.fetch(FetchRequest<HostRecord>(entityName: QueueModel.host))
      let own = hosts.first { $0.folder == folder }
      guard own?.name != daemon.host else { return nil }
      if let holder = hosts.first(where: { $0.name == daemon.host }) {
        guard try !turn.hasDaemon(daemon.host), try turn.jobs(of: daemon.host) == 0 else {
          throw QueueMembership.HostTaken.byFolder(host: daemon.host, folder: holder.folder)
        }
        turn.context.delete(holder)
        try turn.context.save()
      }
      guard let own else {
        let host = try turn.context.insert(HostRecord.self)
        (host.name, host.folder) = (daemon.host, folder)
        return nil
      }
      let former = own.name
      guard try !turn.hasDaemon(former) else { throw QueueMembership.HostTaken.byFormerName(host: former) }
      try turn.lockEntries()
      let key = JobRecord.Key.host.name
      var request = BatchUpdateRequest(entityName: QueueModel.job)
      request.predicate = .equal(key, .string(former))
      request.propertiesToUpdate = [key: .constant(.string(daemon.host))]
      request.resultType = .count
      own.name = daemon.host
      return (former, try turn.context.execute(request).count ?? 0)
    }
  }

  /// Checks that the host's name is still this folder's. Another daemon may take it between ``takeHost()`` and the lease, but not
  /// while the lease is held. On the ledger's queue, where the caller is.
  /// - Throws: ``QueueMembership/HostTaken``, or the store's error.
  func checkHost() throws {
    guard let daemon, let folder = daemon.identity.folder else { return }
    try turn { turn in
      _ = try daemon.lock("hosts", waits: true)
      let hosts = try turn.context.fetch(FetchRequest<HostRecord>(entityName: QueueModel.host))
      guard let holder = hosts.first(where: { $0.name == daemon.host }), holder.folder != folder else { return }
      throw QueueMembership.HostTaken.byFolder(host: daemon.host, folder: holder.folder)
    }
  }

  /// The hosts of daemons whose leases aren't over, without this one's, on the ledger's queue, where the caller is.
  func otherHosts() throws -> Set<String> {
    guard let daemon else { return [] }
    let isThere = FetchPredicate.equal(DaemonRecord.Key.isGone.name, .bool(false))
    let rows = try context.fetch(FetchRequest<DaemonRecord>(entityName: QueueModel.daemon, predicate: isThere))
    return Set(rows.map(\.host)).subtracting([daemon.host])
  }
}

extension LedgerTurn {
  /// Whether a daemon on a host has a lease that isn't over.
  fileprivate func hasDaemon(_ host: String) throws -> Bool {
    let isThere =
      FetchPredicate.equal(DaemonRecord.Key.host.name, .string(host))
      && .equal(DaemonRecord.Key.isGone.name, .bool(false))
    let daemons = try context.fetch(FetchRequest<DaemonRecord>(entityName: QueueModel.daemon, predicate: isThere))
    let isHeld =
      FetchPredicate.isIn(LeaseRecord.Key.incarnation.name, daemons.map { .string($0.incarnation) })
      && .comparison(.path(LeaseRecord.Key.until.name), .greater, .constant(.date(now)))
    return try context.count(for: FetchRequest<LeaseRecord>(entityName: QueueModel.lease, predicate: isHeld)) > 0
  }

  /// How many jobs a host has.
  fileprivate func jobs(of host: String) throws -> Int {
    let isThere = FetchPredicate.equal(JobRecord.Key.host.name, .string(host))
    return try context.count(for: FetchRequest<JobRecord>(entityName: QueueModel.job, predicate: isThere))
  }

  fileprivate func daemonRow(_ incarnation: String) throws -> DaemonRecord? {
    try context.fetch(
      FetchRequest<DaemonRecord>(
        entityName: QueueModel.daemon, predicate: .equal(DaemonRecord.Key.incarnation.name, .string(incarnation)),
        fetchLimit: 1)
    ).first
  }
}

// MARK: Entries of a shared folder

extension JobLedger {
  /// Waits until no daemon makes jobs of entries that it sees in a folder of several hosts: whoever does so after that finds this
  /// daemon at work. On the ledger's queue, where the caller is.
  func endTakeOvers() throws { try turn { try $0.lockEntries() } }
}

extension LedgerTurn {
  /// Keeps other daemons from making jobs of the same entries until the turn's end, or from taking them over.
  func lockEntries() throws {
    guard let daemon, daemon.takesSharedEntries else { return }
    _ = try daemon.lock("entries", waits: true)
  }

  /// Makes the job of an entry this host's when the host that was about to take its file has no daemon any more: in a folder that
  /// both see, the entry is still where it was.
  func takeOver(_ job: JobRecord, isThere: () throws -> Bool) throws {
    guard let daemon, daemon.takesSharedEntries, job.isAwaitingFile, let host = job.host, host != daemon.host,
      job.jobState?.isEnded == false, try isGone(host), try isThere()
    else { return }
    job.host = daemon.host
    try record(job, reason: Self.takenOver(from: host), by: "spool")
  }

  /// How the reason of the transition begins that a take-over leaves.
  static let takeOver = "taken over from host "

  private static func takenOver(from host: String) -> String { "\(takeOver)\(host), where no daemon works" }

  private func isGone(_ host: String) throws -> Bool {
    let isThere = FetchPredicate.equal(DaemonRecord.Key.isGone.name, .bool(false))
    let request = FetchRequest<DaemonRecord>(entityName: QueueModel.daemon, predicate: isThere)
    return try !context.fetch(request).contains { $0.host == host }
  }
}

// MARK: What a claim has to see of other daemons

extension LedgerTurn {
  /// How many jobs of a lane this daemon may claim, where several share the queue: no more than all of them together may run, or
  /// begin in a time. Until the turn's end no other daemon finds that out.
  /// - Parameter waits: whether it waits for a daemon that is finding that out; otherwise there is no room then.
  func room(in lane: LaneConfiguration, limit: Int, _ scope: ClaimScope, waits: Bool = true) throws -> Int {
    guard let daemon, lane.globalConcurrency != nil || lane.rate != nil else { return limit }
    // Where it waits it is the first lock of a turn, which has one lane: there is no deadlock.
    guard try daemon.lock("lane \(lane.name)", waits: waits) else { return 0 }
    var room = limit
    if let most = lane.globalConcurrency {
      let running =
        FetchPredicate.equal(JobRecord.Key.lane.name, .string(lane.name))
        && .equal(JobRecord.Key.state.name, .string(JobState.running.rawValue))
      let count = try context.count(for: FetchRequest<JobRecord>(entityName: QueueModel.job, predicate: running))
      room = min(room, most - count)
    }
    if let rate = lane.rate {
      // The clocks of daemons differ a little.
      let starts = try scope.latestStarts(
        lane.name, now.addingTimeInterval(-rate.period), now.addingTimeInterval(60), rate.jobs)
      scope.noteStarts(lane.name, starts)
      room = min(room, rate.jobs - starts.count)
    }
    return max(0, room)
  }

  /// Takes note of the jobs of other daemons in a store, and keeps them from letting others in until the turn's end as far as
  /// `access` doesn't allow that.
  /// - Returns: whether the store may be entered now.
  func look(at store: String?, _ access: StoreAccess, _ scope: inout ClaimScope) throws -> Bool {
    guard let daemon, let store, access != .none else { return true }
    let isShared = access == .shared
    if isShared, sharedStores.contains(store) { return true }
    // Waiting could be a deadlock.
    guard try daemon.lock("store \(store)", isShared: isShared, waits: false) else { return false }
    if isShared { sharedStores.insert(store) }
    let theirs =
      FetchPredicate.equal(JobRecord.Key.state.name, .string(JobState.running.rawValue))
      && .equal(JobRecord.Key.store.name, .string(store))
      && .notEqual(JobRecord.Key.owner.name, .string(daemon.incarnation))
    scope.use.forgetOthers(in: store)
    for job in try context.fetch(
      FetchRequest<JobRecord>(entityName: QueueModel.job, predicate: theirs, includesPendingChanges: false))
    {
      scope.use.noteOther(in: store, access: scope.access(job))
    }
    return true
  }
}
