package import Foundation
import Logging

/// A daemon that works on a shared queue.
package struct QueueDaemon: Sendable, Hashable {
  package var incarnation: String
  package var host: String
  package var process: Int64
  package var version: String
  package var startedAt: Date
  /// By the store's clock; nil for one whose lease was found over and whose jobs are being put back.
  package var leaseUntil: Date?
  /// How many jobs it runs.
  package var running: Int
  /// Whether it is the one that is asked.
  package var isThis: Bool
}

extension JobQueue {
  /// The daemons that work on the queue, those first that started first; empty for a queue that isn't shared.
  package func daemons() async throws -> [QueueDaemon] { try await ledger.daemons() }

  /// The host that this daemon is known by to others; nil for a queue that isn't shared.
  package var host: String? { membership?.host }

  /// Seconds until this daemon's lease counts as lost unless it is renewed before; nil for a queue that isn't shared.
  package var leaseLeft: TimeInterval? { membership.map { $0.timeLeft ?? 0 } }

  /// Whether a job's files are on another host, where its file is put away, and brought back from.
  package func isElsewhere(_ job: Job) -> Bool {
    guard let membership, let host = job.host else { return false }
    return host != membership.host
  }

  /// Whether a daemon on any host may run it.
  package func runsAnywhere(_ job: Job) -> Bool { job.sharedFile != nil || !isElsewhere(job) }

  /// The rejects of a job that any daemon may run; nil for those of another, which are on its host.
  package func sharedRejects(of job: Job) -> SharedRejects? {
    guard job.sharedFile != nil, let files else { return nil }
    return SharedRejects(files.parts, of: job)
  }

  /// Whether a daemon works on that host.
  func isKeptElsewhere(_ job: Job) -> Bool { isElsewhere(job) && state.otherHosts.contains(job.host ?? "") }

  /// From the return on, no other daemon takes over an entry whose job is this host's. After ``start()``.
  package func endTakeOvers() async throws { try await ledger.queue.perform { _ in try self.ledger.endTakeOvers() } }

  /// Makes the daemon's host name that of its state folder, and of the jobs that it has under another one. Before anything is done
  /// about files, and before ``start()``.
  /// - Throws: ``QueueMembership/HostTaken``, or the store's error. Nothing has changed then.
  package func takeHost() async throws {
    guard let membership else { return }
    try await ledger.queue.perform { [ledger, logger] _ in
      guard let change = try ledger.takeHost() else { return }
      logger.notice(
        "jobs: host \(change.former) is called \(membership.host) from now on, and so it is in its jobs",
        metadata: ["jobs": "\(change.jobs)"])
    }
  }

  /// Whether a daemon on another host has taken the entry of a job over from this one, if its file is in `active/` here.
  package func wasTakenOver(_ id: Int64) async throws -> Bool {
    let job = try await job(id, withTransitions: true)
    // By any host's name: this one may have been renamed since. A file in `active/` here means that it was taken over from here.
    return isElsewhere(job) && job.transitions?.contains { $0.reason.hasPrefix(LedgerTurn.takeOver) } == true
  }

  /// - Throws: ``JobQueueError/refused(id:why:)`` for a job whose files are on another host.
  func refuse(_ what: String, ofJobElsewhere job: Job) throws(JobQueueError) {
    guard isElsewhere(job), let host = job.host else { return }
    throw .refused(id: job.id, why: "has its files on host \(host): \(what) it through a daemon there")
  }

  /// What was last seen of other daemons.
  struct Looks {
    /// The number of changes, as ``QueueMembership/changes()`` has it, that all of the rest follows; nil to look at everything.
    var changes: Int64?
    /// When everything was last looked at.
    var time: Date?
    var counts: Counts?
    /// When the first lease is over, unless it was renewed since.
    var leaseEnd: Date?
    /// Until when their news were passed on.
    var news: Date?
    /// When what has ended was last pruned, and whether anything has changed since.
    var pruning: Date?
    var isPruned = false

    /// How many jobs there were in some lanes, at a number of changes.
    struct Counts {
      /// A count that takes longer than that many seconds is a long one.
      static let longCount: TimeInterval = 0.05
      /// How many times as long as a long count took its result is kept, and for how many seconds at most.
      static let pauses: Double = 20
      static let longestPause: TimeInterval = 10

      let changes: Int64
      let lanes: Set<String>
      /// Until when they needn't be of the latest change, in seconds of the clock that only runs on.
      let goodUntil: TimeInterval
      let counts: JobCounts
    }
  }
}

extension JobQueue: QueueSharing.Subject {
  /// Numbers of jobs of each state that a poll passes on.
  private static let mostNews = 200

  /// Seconds between two looks at everything, at least, where much is announced.
  private static let fullLookInterval: TimeInterval = 0.5

  /// Seconds between two looks at what is to be pruned.
  private static let pruningInterval: TimeInterval = 60

  /// Seconds that a transaction may take from its time to its commit, so that no news are missed.
  private static let longestTurn: TimeInterval = 5

  /// Whether what other daemons do is to be noticed soon: they may be asked to end a job that runs here, or end one that is
  /// waited for, or followed, or that keeps another from running here.
  var isWatchful: Bool { state.isWatchful || hub.hasLiveListeners }

  func forgetChanges() { looks.withLock { $0.changes = nil } }

  /// Looks at what other daemons have done. On the ledger's queue.
  @discardableResult
  func poll(isAnnounced: Bool = false) -> QueuePoll {
    guard let membership, state.isOpen else { return QueuePoll() }
    ledger.forgetObjects()
    var poll = QueuePoll()
    do {
      let changes = try membership.changes()
      let known = looks.withLock { $0 }
      let isLeaseOver = try isFirstLeaseOver()
      poll.isNews = changes != known.changes || isLeaseOver
      if !poll.isNews {
        // A transaction that ended without a change may have kept a job, or a store, locked when it was wanted here.
        if state.hasOpenWork { try tryToClaim() }
      } else if isAnnounced, !isLeaseOver, let last = known.time,
        abs(clock.now().timeIntervalSince(last)) < Self.fullLookInterval
      {
        // Where much is going on, the rest is looked at once in a while.
        try tryToClaim()
        poll.latest = Self.fullLookInterval
        return poll
      } else {
        try catchUp()
        looks.withLock { looks in
          looks.changes = changes
          looks.time = clock.now()
        }
      }
      pruneNowAndThen()
    } catch {
      forgetChanges()
      report(error, "what other daemons have done couldn't be read", job: nil)
      wakeUp()
    }
    poll.latest = looks.withLock(\.leaseEnd).map { $0.timeIntervalSince(clock.now()) }
    return poll
  }

  /// Looks at everything.
  private func catchUp() throws {
    let (lost, stopped) = try ledger.changes(of: state.running.filter { state.isClaimed($0.id) })
    for id in lost { state.operation(of: id)?.drain() }
    for id in stopped { stop(id) }
    try loadSettings()
    let rescued = try ledger.rescueGone(at: clock.now(), endBefore)
    if rescued > 0 {
      logger.notice("jobs: put back what daemons that are gone left running", metadata: ["jobs": "\(rescued)"])
    }
    let leaseEnd = try ledger.firstLeaseEnd()
    looks.withLock { looks in
      looks.leaseEnd = leaseEnd
      looks.isPruned = false
    }
    noteWorkInAllLanes()
    state.otherHosts = try ledger.otherHosts()
    try passOnNews()
    try openWaiters()
    wakeUp()
    state.hasOpenWork = try ledger.hasAvailable(in: lanesNow)
  }

  /// Claims what there is.
  private func tryToClaim() throws {
    noteWorkInAllLanes()
    claimWork()
    state.hasOpenWork = try ledger.hasAvailable(in: lanesNow)
  }

  private func noteWorkInAllLanes() {
    for lane in lanesNow + [LaneConfiguration.changesName] { state.noteWork(in: lane) }
  }

  /// Whether a daemon hasn't renewed its lease in time. Most have by then.
  private func isFirstLeaseOver() throws -> Bool {
    guard let end = looks.withLock(\.leaseEnd), end < clock.now() else { return false }
    let first = try ledger.firstLeaseEnd()
    looks.withLock { $0.leaseEnd = first }
    return first.map { $0 < clock.now() } ?? false
  }

  func loseLease() {
    logger.error(
      "jobs: the lease is lost, and all jobs of this daemon are stopped: others go on with them",
      metadata: ["incarnation": "\(membership?.incarnation ?? "")"])
    state.beginDrain()
    for operation in state.operations { operation.drain() }
    delegate?.jobQueueDidLoseLease(self)
  }

  /// Tells those who listen of jobs that other daemons have begun and ended.
  private func passOnNews() throws {
    let now = clock.now()
    let before = looks.withLock { looks in
      defer { looks.news = now }
      return looks.news
    }
    guard let before else { return }
    let news = try ledger.news(since: before.addingTimeInterval(-Self.longestTurn), limit: Self.mostNews)
    state.passOn(news)
  }

  /// Others end jobs, too, which isn't counted here.
  private func pruneNowAndThen() {
    let now = clock.now()
    let isTime = looks.withLock { looks in
      if looks.isPruned { return false }
      if let last = looks.pruning, now.timeIntervalSince(last) < Self.pruningInterval { return false }
      looks.pruning = now
      looks.isPruned = true
      return true
    }
    if isTime { pruner.prune(self) }
  }

  /// Lets those go on who wait for a job that another daemon has ended.
  private func openWaiters() throws {
    let ids = state.awaited
    guard !ids.isEmpty else { return }
    for id in try ledger.ended(among: ids) where !state.isSettling(id) {
      for waiter in state.takeWaiters(for: id) { waiter.open() }
    }
  }
}
