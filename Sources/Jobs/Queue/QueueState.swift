import Foundation
import Synchronization

/// What the queue knows of this process's work; everything durable is in the store. Safe from any thread.
///
/// Each part owns its state; the methods here are the steps that have to see or change several parts at once. All of it is under
/// one lock, which is never held while foreign code runs. Events are broadcast under it, so that their order is that of the
/// changes.
final class QueueState: Sendable {
  fileprivate struct Content {
    var isStarted = false
    var isDraining = false
    var running = RunningJobs()
    var upcoming = UpcomingJobs()
    var settling = SettlingJobs()
    var waiters = JobWaiters()
    /// Where the operations of each lane run.
    var queues: [String: LaneQueue]
    /// What governs each lane.
    var lanes: [String: LaneControl]
    /// Lanes in which something may be available.
    var lanesWithWork: Set<String> = []
    var retention: JobRetention
    /// The recipes whose completed imports are noted.
    var watchedRecipes: Set<String>
    /// Who works on which data store.
    var use = StoreUse()
    /// Whether a request to write the claims of those that have begun without one is in line.
    var areClaimsComing = false
    /// Ends that couldn't be written yet.
    var unwritten: [Int64: JobOutcome] = [:]
    /// nil until they have been counted.
    var counts: JobCounts?
    /// What other daemons were last seen to run, and to have ended.
    var news: [Int64: Job] = [:]
    /// The hosts where other daemons work.
    var otherHosts: Set<String> = []
    /// Whether, after the latest claims, there were jobs that this daemon may run.
    var hasOpenWork = false

    /// Whether jobs may begin.
    var isOpen: Bool { isStarted && !isDraining }
    /// Whether nothing runs and no file is being put away.
    var isQuiet: Bool { running.isEmpty && !settling.isPuttingAway }
  }

  private let hub: JobEventHub
  private let content: Mutex<Content>

  init(
    lanes: [String: LaneConfiguration], retention: JobRetention, watchedRecipes: Set<String> = [], hub: JobEventHub
  ) {
    self.hub = hub
    content = Mutex(
      Content(
        queues: lanes.mapValues { LaneQueue($0) }, lanes: lanes.mapValues { LaneControl($0) }, retention: retention,
        watchedRecipes: watchedRecipes))
  }

  // MARK: Start and end

  var isStarted: Bool { content.withLock(\.isStarted) }
  var isDraining: Bool { content.withLock(\.isDraining) }
  /// Whether jobs may begin: the queue has started and isn't draining.
  var isOpen: Bool { content.withLock(\.isOpen) }

  /// From now on jobs begin, in every lane.
  func start() {
    content.withLock { content in
      content.isStarted = true
      content.lanesWithWork = Set(content.queues.keys)
    }
  }

  func beginDrain() { content.withLock { $0.isDraining = true } }

  /// Has the latch opened when nothing runs and no file is being put away.
  func add(forQuiet latch: Latch) { content.withLock { $0.waiters.addForQuiet(latch) } }

  /// Whether nothing runs and no file is being put away.
  var isQuiet: Bool { content.withLock(\.isQuiet) }

  /// The latches to open, if the queue drains and is quiet.
  func takeDrainersIfQuiet() -> [Latch] {
    content.withLock { content in
      guard content.isDraining, content.isQuiet else { return [] }
      return content.waiters.takeForQuiet()
    }
  }

  // MARK: Lanes

  /// Where the operations of each lane run.
  var lanes: [String: LaneQueue] { content.withLock(\.queues) }
  /// What governs each lane.
  var controls: [String: LaneControl] { content.withLock(\.lanes) }
  var retention: JobRetention { content.withLock(\.retention) }
  /// The recipes whose completed imports are noted.
  var watchedRecipes: Set<String> { content.withLock(\.watchedRecipes) }

  func lane(_ name: String) -> LaneQueue? { content.withLock { $0.queues[name] } }

  /// Takes a run-time setting over.
  func apply(_ setting: LaneSetting, to lane: String) {
    content.withLock { content in
      content.lanes[lane]?.setting = setting
      content.lanesWithWork.insert(lane)
    }
  }

  /// The starts that a lane's rate counts, as the store has them.
  func set(starts: [Date], of lane: String) { content.withLock { $0.lanes[lane]?.starts = starts } }

  /// Applies another configuration.
  /// - Parameters:
  ///   - lanes: all that there are from now on.
  ///   - controls: of those that are new or changed.
  ///   - counts: nil if the lanes have the same names as before.
  func reconfigure(
    _ lanes: [String: LaneConfiguration], controls: [String: LaneControl], counts: JobCounts?, retention: JobRetention,
    watchedRecipes: Set<String> = []
  ) {
    content.withLock { content in
      if let counts { content.counts = counts }
      content.lanes = content.lanes.filter { lanes[$0.key] != nil }
      for (name, control) in controls {
        if content.lanes[name] == nil {
          content.lanes[name] = control
        } else {
          content.lanes[name]?.reconfigure(as: control)
        }
      }
      content.queues = lanes.mapValues { [queues = content.queues] in queues[$0.name] ?? LaneQueue($0) }
      content.lanesWithWork = Set(lanes.keys)
      content.retention = retention
      content.watchedRecipes = watchedRecipes
    }
  }

  func snapshot(of name: String, _ counts: JobCounts, at now: Date) -> Lane? {
    content.withLock { content in
      guard let control = content.lanes[name] else { return nil }
      return Lane(
        control.configuration, control.setting, counts: counts.lanes[name] ?? [:],
        running: content.running.holders(in: name), nextStart: control.nextStart(at: now))
    }
  }

  // MARK: Claims

  /// Who works on which data store.
  var use: StoreUse { content.withLock(\.use) }

  /// Takes over which jobs are next to have a store to themselves.
  func takeNext(of use: StoreUse) { content.withLock { $0.use.takeNext(of: use) } }

  /// The lanes that may have work, by name, and when the rates let the next jobs begin there.
  func lanesWithWork(at now: Date) -> (names: [String], limited: [Date]) {
    content.withLock { content in
      guard content.isOpen else { return ([], []) }
      let names = content.lanesWithWork.sorted()
      return (names, names.compactMap { content.lanes[$0]?.nextStart(at: now) })
    }
  }

  /// A lane may have work.
  func noteWork(in lane: String) { content.withLock { _ = $0.lanesWithWork.insert(lane) } }

  /// How many jobs of a lane may begin now.
  func slots(of lane: String, at now: Date) -> Int { content.withLock { $0.slots(of: lane, at: now) } }

  /// How many jobs of a lane may begin when these have ended; nil where nothing waits, or nothing may begin.
  func slots(of lane: String, after ended: [Int64], at now: Date) -> Int? {
    content.withLock { content in
      guard content.isOpen, content.lanesWithWork.contains(lane) else { return nil }
      return content.slots(of: lane, ended: content.running.holders(among: ended), at: now)
    }
  }

  /// How many new jobs may begin in a lane at once: none where others wait.
  func slotsForNew(in lane: String, at now: Date) -> Int {
    content.withLock { content in
      guard content.isOpen, !content.lanesWithWork.contains(lane), content.ahead(in: lane) == 0 else { return 0 }
      return content.slots(of: lane, at: now)
    }
  }

  /// A number of jobs of a lane were claimed for its free slots.
  func noteClaims(_ claimed: Int, for slots: Int, in lane: String, _ use: StoreUse) {
    content.withLock { content in
      content.use.takeNext(of: use)
      // Those that have begun ahead may have been all that was looked at.
      if claimed < slots, content.ahead(in: lane) == 0 { content.lanesWithWork.remove(lane) }
    }
  }

  /// A job's claim is durable.
  /// - Returns: whether its operation had begun before.
  func noteClaim(of id: Int64) -> Bool {
    content.withLock { content in
      content.running.noteClaim(of: id)
      return content.running.hasBegun(id)
    }
  }

  // MARK: Operations

  /// A job's operation is about to run; it has a slot.
  /// - Returns: whether it was asked to stop, or to make way for the queue's end, since it was passed its slot on.
  func begin(
    _ operation: JobOperation, _ job: Job, access: StoreAccess, limit: RunningJobs.Limit?, at now: Date
  ) -> (isStopped: Bool, isDraining: Bool) {
    content.withLock { content in
      let passing = content.running.begin(operation, job, access: access, limit: limit, at: now)
      content.lanes[job.lane]?.note(start: job.startedAt ?? now)
      if passing == nil {
        _ = content.use.enter(.init(id: job.id, kind: job.kind, lane: job.lane), store: job.store, access: access)
      }
      hub.broadcast(job)
      return (isStopped: passing?.isStopped ?? false, isDraining: passing != nil && content.isDraining)
    }
  }

  /// Takes note of progress and announces it.
  /// - Returns: the job before and, if that is news, after; nil for a job that doesn't run.
  func note(_ progress: JobProgress, of id: Int64, at now: Date) -> (before: Job, after: Job?)? {
    content.withLock { content in
      let news = content.running.note(progress, of: id, at: now)
      if let after = news?.after { hub.broadcast(after) }
      return news
    }
  }

  /// An operation has ended.
  /// - Returns: what that means for its job, and the job that has its slot now; no outcome if it doesn't run here.
  func operationDidEnd(_ id: Int64, at now: Date) -> (outcome: JobOutcome?, next: Job?) {
    content.withLock { ($0.running.outcome(of: id), $0.passOnSlot(of: id, at: now)) }
  }

  /// The end of a job couldn't be written.
  func noteUnwritten(_ outcome: JobOutcome, of id: Int64) { content.withLock { $0.unwritten[id] = outcome } }

  /// The ends that couldn't be written, to be written again.
  func takeUnwritten() -> [Int64: JobOutcome] {
    content.withLock { content in
      defer { content.unwritten = [:] }
      return content.unwritten
    }
  }

  /// Whether the end of a running job couldn't be written.
  func isUnwritten(_ id: Int64) -> Bool { content.withLock { $0.unwritten[id] != nil } }

  /// A job isn't this queue's any more.
  /// - Returns: who waited for it.
  func forget(_ id: Int64) -> [Latch] {
    content.withLock { content in
      content.end(id)
      return content.waiters.take(for: id)
    }
  }

  /// A job is to stop.
  /// - Returns: its operation, if it runs.
  func stop(_ id: Int64) -> JobOperation? { content.withLock { $0.running.stop(id) } }

  /// See ``RunningJobs/takeOverdue(at:)``.
  func takeOverdue(at now: Date) -> (overdue: [(Int64, JobOperation)], next: Date?) {
    content.withLock { $0.running.takeOverdue(at: now) }
  }

  /// See ``RunningJobs/moveTimeouts(by:)``.
  func moveTimeouts(by seconds: TimeInterval) { content.withLock { $0.running.moveTimeouts(by: seconds) } }

  var operations: [JobOperation] { content.withLock { $0.running.operations } }
  func operation(of id: Int64) -> JobOperation? { content.withLock { $0.running.operation(of: id) } }

  // MARK: Beginning ahead of the claim

  /// Whether jobs may be looked up ahead: none is to have a store to itself.
  var mayLookAhead: Bool { content.withLock { $0.use.closed.isEmpty } }

  /// Whether the claim of a job that has a slot is durable.
  func isClaimed(_ id: Int64) -> Bool { content.withLock { $0.running.isClaimed(id) ?? false } }

  /// Whether a turn that ends some jobs of a lane is to look up the next, because they were short.
  func looksAhead(in lane: String, after ended: [Int64]) -> Bool {
    content.withLock { content in
      content.upcoming.areFew(in: lane) && content.use.closed.isEmpty && content.unwritten.isEmpty
        && ended.contains { content.running.isShort($0) }
    }
  }

  /// The next jobs of a lane, as the store has them.
  func set(upcoming jobs: [UpcomingJobs.Next], in lane: String) {
    content.withLock { content in
      // The store still shows those as available that have begun since.
      content.upcoming.set(jobs.filter { !content.running.hasBegun($0.job.id) }, in: lane)
    }
  }

  /// How many available jobs of a lane have begun, or may begin at any time.
  func ahead(in lane: String) -> Int { content.withLock { $0.ahead(in: lane) } }

  /// A job that is available is about to change: it doesn't begin ahead any more.
  /// - Returns: the number of the claim with which it has begun, if that isn't written yet.
  func willChange(_ id: Int64, in lane: String) -> Int64? {
    content.withLock { content in
      if let isClaimed = content.running.isClaimed(id) { return isClaimed ? nil : content.running.claim(of: id) }
      content.upcoming.remove(id, from: lane)
      return nil
    }
  }

  /// The number of the claim under which a job of this process has a slot.
  func claim(of id: Int64) -> Int64? { content.withLock { $0.running.claim(of: id) } }

  /// The claims of jobs that have begun are to be written.
  /// - Returns: whether that has to be requested; false where a request is in line.
  func requestClaims() -> Bool {
    content.withLock { content in
      defer { content.areClaimsComing = true }
      return !content.areClaimsComing
    }
  }

  /// The jobs that have begun and whose claims aren't durable, in order. Jobs that begin later need another request.
  func takeUnclaimed() -> [Int64] {
    content.withLock { content in
      content.areClaimsComing = false
      return content.running.unclaimed
    }
  }

  // MARK: What follows from a commit

  /// A change of a job is durable.
  func note(_ change: LedgerChange) {
    let job = change.job
    content.withLock { content in
      let isClaimedAtOnce = change.from == nil && job.state == .running
      if isClaimedAtOnce { content.counts?.move(in: job.lane, from: nil, to: .available) }
      content.counts?.move(
        in: job.lane, from: isClaimedAtOnce ? .available : change.from, to: change.isRemoved ? nil : job.state)
      if job.state != .running {
        content.end(job.id)
        if job.state != .available, content.use.giveUp(job.id) { content.lanesWithWork.formUnion(content.lanes.keys) }
      } else {
        content.running.noteCancelRequest(job.isCancelRequested, of: job.id)
      }
      if change.isRemoved { return }
      if change.actions.contains(.settle) { content.settling.begin(job) }
      content.upcoming.putInOrder(job)
      // Under the lock, as progress is: no progress is announced after the end.
      if change.actions.contains(.run), job.state == .running { return }
      if !content.settling.hold(job) { hub.broadcast(job) }
    }
  }

  /// A job's file is to be put away once more, after a restart.
  /// - Returns: whether that isn't under way.
  func beginPuttingAwayAgain(_ id: Int64) -> Bool { content.withLock { $0.settling.beginAgain(id) } }

  /// A job's file is put away: its end is announced.
  /// - Returns: who waited for the job, and whether pruning is to look again at what it passed over.
  func endPuttingAway(_ id: Int64) -> (waiters: [Latch], prunesAgain: Bool) {
    content.withLock { content in
      let (news, prunesAgain) = content.settling.end(id)
      if let news { hub.broadcast(news) }
      return (waiters: content.waiters.take(for: id), prunesAgain: prunesAgain)
    }
  }

  /// The file of a job that has ended is to be brought back.
  /// - Returns: whether it may be: not while that is under way, or it is being put away.
  func beginReviving(_ id: Int64) -> Bool { content.withLock { $0.settling.beginReviving(id) } }

  func isReviving(_ id: Int64) -> Bool { content.withLock { $0.settling.isReviving(id) } }

  /// A job is to be tried again, or stays as it is.
  /// - Returns: whether pruning is to look again at what it passed over.
  func endReviving(_ id: Int64) -> Bool { content.withLock { $0.settling.endReviving(id) } }

  /// Pruning has passed over jobs that were being settled when it began.
  /// - Returns: whether some still are.
  func notePruningCut() -> Bool { content.withLock { $0.settling.notePruningCut() } }

  // MARK: Reads

  /// The jobs that run, with their progress.
  var running: [Job] { content.withLock { $0.running.snapshots } }
  /// How far a job that runs is, and how fast it is now.
  func progress(of id: Int64, at now: Date) -> (JobProgress, CurrentRate?)? {
    content.withLock { content in
      content.running.progress(of: id).map { ($0, content.running.rate(of: id, at: now)) }
    }
  }

  /// The progress of those of the jobs that run.
  func progress(of ids: [Int64]) -> [JobProgress] {
    content.withLock { content in ids.compactMap { content.running.progress(of: $0) } }
  }

  /// nil until they have been counted; later commits adjust them.
  var counts: JobCounts? {
    get { content.withLock(\.counts) }
    set { content.withLock { $0.counts = newValue } }
  }

  /// The jobs that have ended and about which something is still to be done.
  var settling: Set<Int64> { content.withLock { $0.settling.all } }
  func isSettling(_ id: Int64) -> Bool { content.withLock { $0.settling.contains(id) } }

  /// What keeps an available job from running, apart from the jobs before it.
  func obstacle(to job: Job, access: StoreAccess, at now: Date) -> (JobObstacle, String)? {
    content.withLock { content in
      guard let lane = content.lanes[job.lane] else { return (.lane, "a lane \(job.lane), which isn't configured") }
      if lane.setting.isPaused {
        return (.paused, "lane \(job.lane), which \(lane.setting.pausedBy ?? "somebody") paused")
      }
      if let use = content.use.obstacle(to: job.id, store: job.store, access: access) { return (.store, use) }
      guard let next = lane.nextStart(at: now) else { return nil }
      return (.rate, "the rate of lane \(job.lane), until \(next.formatted(.iso8601))")
    }
  }

  /// Whether anything waits for the end of a job.
  var hasWaiters: Bool { content.withLock { !$0.waiters.isEmpty } }
  func add(_ latch: Latch, for id: Int64) { content.withLock { $0.waiters.add(latch, for: id) } }
  func remove(_ latch: Latch, for id: Int64) { content.withLock { $0.waiters.remove(latch, for: id) } }

  // MARK: Other daemons

  /// Announces what other daemons run and have ended, if that is news. Of a job of this process it knows better.
  func passOn(_ jobs: [Job]) {
    content.withLock { content in
      for job in jobs where content.news[job.id] != job {
        guard !content.running.hasBegun(job.id), !content.settling.contains(job.id) else { continue }
        hub.broadcast(job)
      }
      content.news = Dictionary(jobs.map { ($0.id, $0) }) { $1 }
    }
  }

  /// The hosts where other daemons work.
  var otherHosts: Set<String> {
    get { content.withLock(\.otherHosts) }
    set { content.withLock { $0.otherHosts = newValue } }
  }

  /// Whether, after the latest claims, there were jobs that this daemon may run.
  var hasOpenWork: Bool {
    get { content.withLock(\.hasOpenWork) }
    set { content.withLock { $0.hasOpenWork = newValue } }
  }

  /// Whether jobs run, wait to run, or are waited for.
  var isWatchful: Bool {
    content.withLock { content in
      content.hasOpenWork || !content.running.isEmpty || !content.waiters.isEmpty || !content.unwritten.isEmpty
    }
  }

  /// The jobs whose end is waited for.
  var awaited: [Int64] { content.withLock { $0.waiters.jobs } }
  func takeWaiters(for id: Int64) -> [Latch] { content.withLock { $0.waiters.take(for: id) } }
}

extension QueueState.Content {
  /// How many jobs of a lane may begin now.
  fileprivate func slots(of lane: String, ended: Int = 0, at time: Date) -> Int {
    lanes[lane]?.slots(running: running.count(in: lane) - ended, at: time) ?? 0
  }

  fileprivate func ahead(in lane: String) -> Int { upcoming.count(in: lane) + running.unclaimedCount(in: lane) }

  /// A job doesn't run any more: its slot and its store are free.
  fileprivate mutating func end(_ id: Int64) {
    guard let (job, access) = running.end(id) else { return }
    unwritten[id] = nil
    let wasClosed = !use.closed.isEmpty
    use.leave(id, store: job.store, access: access)
    // Those that waited for the store may be in any lane.
    if wasClosed { lanesWithWork.formUnion(lanes.keys) }
  }

  /// The operation of a job has ended: the next job of its lane, if there is one that may have its slot.
  fileprivate mutating func passOnSlot(of id: Int64, at time: Date) -> Job? {
    guard let (job, access) = running.noteEnd(of: id, at: time), isOpen, unwritten.isEmpty,
      let next = upcoming.first(in: job.lane), slots(of: job.lane, ended: 1, at: time) > 0,
      letsIn(next, after: job, access)
    else { return nil }
    upcoming.removeFirst(in: job.lane)
    running.passOn(id, to: next.job)
    let holder = StoreUse.Holder(id: next.job.id, kind: next.job.kind, lane: next.job.lane)
    _ = use.enter(holder, store: next.job.store, access: next.access)
    return next.job
  }

  /// Into a store where the job before it still counts as working: so no claim that is being made has given it away.
  private func letsIn(_ next: UpcomingJobs.Next, after job: Job, _ access: StoreAccess) -> Bool {
    guard let store = next.job.store, next.access != .none else { return true }
    return access == .shared && job.store == store
      && use.obstacle(to: next.job.id, store: store, access: .shared) == nil
  }
}
