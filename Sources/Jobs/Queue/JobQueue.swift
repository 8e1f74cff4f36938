// A job's way through the queue:
//
//   submit ─▶ the ledger writes it ─▶ `offer`: its lane has work ─▶ a claim, as soon as the lane has a slot free
//     ─▶ `run`: its operation goes to an OperationQueue of the lane ─▶ the operation ends ─▶ the ledger writes the end
//     ─▶ the slot is free: the next claim ─▶ `settle`: the file is put away ─▶ waiters go on
//
// What is done about a job follows from what was committed, never from what was requested. The slot of an
// operation stays taken until its end is durable, or passes to the job that is next where jobs are short (see
// `JobQueue+Run`); an end that can't be written is tried again every second, and passes nothing on.

import Foundation
package import Logging
package import ManagedObjects
import Synchronization

/// Accepts jobs, runs them in lanes and reports on them. Safe from any thread. What changes is in the parts: ``QueueState``,
/// ``ScheduleRunner``, ``JobPruner``, ``JobEventHub``.
package final class JobQueue: Sendable {
  let ledger: JobLedger
  let operations: OperationCatalogue
  let environment: JobEnvironment
  /// What names this queue among all that a data store may meet.
  package var queueIdentifier: String { environment.queueIdentifier }
  let clock: JobClock
  private let steps: ClockSteps
  let random: @Sendable () -> Double
  let logger: Logger
  let state: QueueState
  let pruner: JobPruner
  let scheduleRunner: ScheduleRunner
  /// What keeps up with other daemons; nil where this is the only one.
  let sharing: QueueSharing?
  var membership: QueueMembership? { sharing?.membership }
  /// The files of jobs that other daemons may run; nil where this is the only one.
  let files: SharedFiles?
  /// When other daemons were looked at.
  let looks = Mutex(Looks())
  let hub: JobEventHub
  /// Not private: a test cancels it where a killed process would.
  let timer: WakeTimer
  private let delegateReference = Mutex(WeakDelegate())

  /// A queue over the store of `coordinator`, whose model is ``QueueModel``. Nothing runs before ``start()``.
  ///
  /// The store must be opened so that a save is safe from a loss of power when it returns, for so is then a submission.
  /// - Parameters:
  ///   - watchedRecipes: the recipes whose completed imports are noted: see ``recipeRuns()``.
  ///   - membership: this daemon's place among those that share the queue; nil where it is the only one.
  ///   - files: a coordinator of the store of a shared queue, with connections of its own, by which files of jobs are written and
  ///     read; nil for the queue's.
  ///   - clock: where daemons share the queue, it is theirs.
  ///   - random: numbers from 0 up to 1 that spread the retries.
  /// - Throws: ``JobQueueError/invalidLanes(_:)``.
  package init(
    coordinator: PersistentStoreCoordinator, lanes: [LaneConfiguration], operations: OperationCatalogue,
    environment: JobEnvironment, retention: JobRetention = JobRetention(),
    schedules: [JobSchedule] = [], watchedRecipes: Set<String> = [], membership: QueueMembership? = nil,
    files: PersistentStoreCoordinator? = nil, backoff: Backoff = Backoff(), clock: JobClock = .system,
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }, logger: Logger
  ) throws(JobQueueError) {
    let lanes = try Self.checked(lanes)
    self.operations = operations.withChanges()
    self.environment = environment
    let clock = membership?.clock ?? clock
    self.clock = clock
    steps = ClockSteps(clock)
    self.random = random
    self.logger = logger
    let ledger = JobLedger(coordinator: coordinator, now: clock.now, backoff: backoff, daemon: membership)
    self.ledger = ledger
    sharing = membership.map { QueueSharing($0, ledger: ledger, random: random, logger: logger) }
    self.files = membership.map { SharedFiles(FileParts(files ?? coordinator, $0), environment) }
    timer = WakeTimer(clock: clock)
    pruner = JobPruner(ledger: ledger, clock: clock, logger: logger)
    scheduleRunner = ScheduleRunner(
      schedules, ledger: ledger, clock: clock, queue: environment.queueIdentifier, logger: logger)
    hub = JobEventHub()
    state = QueueState(lanes: lanes, retention: retention, watchedRecipes: watchedRecipes, hub: hub)
    ledger.observe(self)
  }

  private struct WeakDelegate {
    weak var value: (any JobQueueDelegate)?
  }

  /// Hears what happens to jobs; see ``JobQueueDelegate``.
  package var delegate: (any JobQueueDelegate)? {
    get { delegateReference.withLock { $0.value } }
    set { delegateReference.withLock { $0.value = newValue } }
  }

  /// The context on the main queue that follows what the queue writes. Its objects are ``JobRecord`` and ``TransitionRecord``.
  package var mainContext: ContextQueue { ledger.mainContext }

  /// What happens to jobs from now on: every transition and all progress. A slow listener gets only the
  /// newest of each job, and of no more than `capacity` jobs. The stream ends when the queue has been drained.
  /// - Parameter isLive: whether the listener is to hear of what other daemons do in a second or so, and not just when this one
  ///   comes to look.
  package func events(capacity: Int = 4096, isLive: Bool = true) -> AsyncStream<Job> {
    let stream = hub.stream(capacity: capacity, isLive: isLive)
    if isLive { sharing?.hasten(self) }
    return stream
  }

  /// The latest completed imports of each watched recipe, oldest first: up to eight, or since when a recipe is watched that has
  /// none yet. They are noted in the transactions that complete the jobs, and stay when these are removed.
  package func recipeRuns() async throws -> [RecipeRun] { try await ledger.recipeRuns() }
}

// MARK: The start, and what is due

extension JobQueue {
  /// Rescues the jobs that an earlier process left running, and begins to run jobs.
  /// - Throws: ``JobQueueError/startedBefore``, ``JobQueueError/invalidSchedule(_:_:)``, or the store's error; nothing runs then, and it may be started again.
  package func start() async throws {
    try await ledger.queue.perform { _ in
      guard !self.state.isStarted else { throw JobQueueError.startedBefore }
      try self.check(self.scheduleRunner.schedules, lanes: self.lanesNow)
      if let membership = self.membership {
        try self.join(membership)
      }
      try self.scheduleRunner.begin(for: self)
      try self.ledger.beginRuns(of: self.state.watchedRecipes)
      let counts = try self.loadCounts(in: self.ledger.context)
      try self.loadLanes()
      let rescued =
        if self.membership == nil {
          try self.ledger.rescue(self.endBefore)
        } else {
          try self.ledger.rescueGone(at: self.clock.now(), self.endBefore)
        }
      // The clock may have been set back while no process ran.
      try self.ledger.endOverlongWaits()
      if rescued > 0 { self.logger.notice("jobs: put back what was running", metadata: ["jobs": "\(rescued)"]) }
      let orphans = counts.other.filter { !$0.key.isEnded }.values.reduce(0, +)
      if orphans > 0 {
        self.logger.warning("jobs: some wait in lanes that aren't configured", metadata: ["jobs": "\(orphans)"])
      }
      self.state.start()
      self.sharing?.begin(for: self)
      self.wakeUp()
      self.pruner.prune(self)
    }
  }

  /// Takes the daemon's place among those that share the queue.
  private func join(_ membership: QueueMembership) throws {
    try membership.join()
    do {
      try ledger.checkHost()
      ledger.context.fence = try membership.fence(in: ledger.context)
    } catch {
      giveUpLease(of: membership)
      throw error
    }
  }

  private func giveUpLease(of membership: QueueMembership) {
    do {
      try membership.leave()
    } catch {
      logger.warning("jobs: the lease couldn't be given up, and ends by itself", metadata: ["error": "\(error)"])
    }
  }

  /// How a job that an earlier process left running has ended, if its work was done. It is put back otherwise, or cancelled if
  /// somebody asked for that.
  func endBefore(_ job: Job) -> JobOutcome? {
    var environment = environment
    if let stores = environment.presentStores { environment.dataStores = stores() }
    do {
      return try operations.factory(for: job.kind)?(job, environment).endBefore()
    } catch {
      logger.warning(
        "job \(job.id): whether it was done before the daemon ended is unknown",
        metadata: job.logMetadata.adding(["error": "\(error)"]))
      return nil
    }
  }

  /// Loads the run-time settings of lanes, and the starts that their rates count.
  private func loadLanes() throws {
    try loadSettings()
    for (name, control) in state.controls {
      state.set(starts: try control.storedStarts(ledger, at: clock.now()), of: name)
    }
  }

  /// Loads the run-time settings of lanes. On the ledger's queue.
  func loadSettings() throws {
    let set = try ledger.laneSettings()
    for name in state.controls.keys { if let setting = set[name] { state.apply(setting, to: name) } }
  }

  /// Has the delegate put away the files of those of the jobs that have ended: for files still in `active/` at a start, whose
  /// jobs ended just before the kill. Jobs that don't exist are returned.
  package func settle(_ ids: [Int64]) async throws -> [Int64] {
    var unknown: [Int64] = []
    for id in ids {
      do {
        let job = try await job(id)
        // One whose entry may still come again is settled when that has arrived.
        if job.state.isEnded, !job.isBeforeArrival { settle(job) }
      } catch JobQueueError.noSuchJob {
        unknown.append(id)
      }
    }
    return unknown
  }

  /// Does what is due, and sets the timer for what is next. On the ledger's queue.
  func wakeUp() {
    for (id, outcome) in state.takeUnwritten() { write(outcome, of: id) }
    guard state.isOpen else { return }
    followClock()
    do {
      if let next = try ledger.promoteDue() { wake(at: next) }
      if let next = try ledger.expireDue() { wake(at: next) }
    } catch {
      report(error, "what is due couldn't be made available")
    }
    if let next = stopOverdue() { wake(at: next) }
    scheduleRunner.runDue(for: self)
    claimWork()
  }

  /// Looks whether the clock was set, and does what follows from that. To be called now and then, because no timer
  /// fires when a clock is set back.
  package func checkClock() {
    ledger.queue.perform { _ in
      if self.state.isOpen, self.followClock() { self.wakeUp() }
    }
  }

  /// Has what depends on the time that has passed follow a clock that was set: an attempt may take as long as before, and a
  /// retry waits no longer. Schedules, deadlines and start times are times of the day, and stay. On the ledger's queue.
  /// - Returns: whether the clock was set.
  @discardableResult
  private func followClock() -> Bool {
    guard let step = steps.take() else { return false }
    logger.warning(
      "jobs: the clock was set \(step < 0 ? "back" : "forward")", metadata: ["seconds": "\(Int(abs(step)))"])
    state.moveTimeouts(by: step)
    do {
      try ledger.endOverlongWaits()
    } catch {
      report(error, "retries that wait for a clock that was set back couldn't be made available")
    }
    return true
  }

  func wake(at time: Date) {
    timer.arm(time) { [weak self] in
      guard let self else { return }
      ledger.queue.perform { _ in self.wakeUp() }
    }
  }

  /// Logs that something couldn't be written, and tries again in a second.
  func report(_ error: any Error, _ what: String, job: Int64?) {
    var metadata: Logger.Metadata = ["error": "\(error)"]
    if let job { metadata["job"] = "\(job)" }
    logger.error("\(job.map { "job \($0)" } ?? "jobs"): \(what)", metadata: metadata)
    wake(at: clock.now().addingTimeInterval(1))
  }
}

// MARK: The end

extension JobQueue {
  /// Stops: nothing is claimed any more, running operations are asked to stop at their next batch and go back to
  /// `available`, and files of ended jobs are put away. Submissions are still taken; they run after the next start.
  ///
  /// - Returns: the jobs that still ran when `timeout` was over. If the process ends then, they are put back by the
  ///   next start. Until it does they use their stores, and the queue its own: see ``isQuiet``.
  @discardableResult
  package func drain(timeout: Duration) async -> [Job] {
    let deadline = clock.now().addingTimeInterval(timeout / .seconds(1))
    state.beginDrain()
    // A claim that is under way ends first, so its operation is asked to stop, too.
    await withCheckedContinuation { continuation in
      ledger.queue.perform { _ in continuation.resume() }
    }
    for operation in state.operations { operation.drain() }
    let quiet = Latch()
    state.add(forQuiet: quiet)
    endDrainIfQuiet()
    let cancel = clock.schedule(deadline) { quiet.open() }
    await quiet.wait()
    cancel()
    timer.cancel()
    await pruner.stop()
    hub.finish()
    let left = state.running
    if !left.isEmpty {
      logger.warning(
        "jobs: still running at the end of the wait; the next start continues them",
        metadata: ["jobs": "\(left.map(\.id))"])
    } else if !isQuiet {
      logger.warning("jobs: files are still being put away at the end of the wait; the next start goes on with that")
    }
    return left
  }

  /// Gives the lease of a shared queue up, once nothing is to be written any more.
  package func leave() async {
    guard let sharing else { return }
    sharing.end()
    await withCheckedContinuation { continuation in
      ledger.queue.perform { _ in
        self.giveUpLease(of: sharing.membership)
        continuation.resume()
      }
    }
  }

  /// Whether nothing runs and no file is being put away. A queue that has been drained is done with all stores then, and
  /// they may be closed.
  package var isQuiet: Bool { state.isQuiet }

  func endDrainIfQuiet() {
    for latch in state.takeDrainersIfQuiet() { latch.open() }
  }
}

// MARK: Reads

// Reads are answered by the ledger's reader, on a queue of its own: they read the disk, which has no place on the main queue.
// The progress of a running job is kept in memory until it ends.

extension JobQueue {
  /// The jobs that run now, the oldest first, with their progress.
  package var runningJobs: [Job] {
    state.running.sorted { $0.id < $1.id }
  }

  /// The job of that number.
  /// - Throws: ``JobQueueError/noSuchJob(_:)``, or the store's error.
  package func job(_ id: Int64, withTransitions: Bool = false) async throws -> Job {
    completed(try await ledger.read(id, withTransitions: withTransitions))
  }

  /// The jobs that pass a filter, in its order.
  package func jobs(_ filter: JobFilter = JobFilter()) async throws -> [Job] {
    try await ledger.read(filter).map(completed)
  }

  /// How many jobs there are, by lane and state. With one daemon the cost doesn't depend on their number. In a shared queue they
  /// are counted again when any daemon has changed something, and the result may be up to ten seconds old where counting takes
  /// long.
  package func counts() async throws -> JobCounts {
    if let counts = state.counts { return counts }
    guard membership != nil else { return try await ledger.queue.perform { try self.loadCounts(in: $0) } }
    // Neither claims nor lists wait for that.
    return try await ledger.counter.perform { try self.loadCounts(in: $0) }
  }

  /// Counts. Where this queue has no other daemon, that is done once, on the ledger's queue, and later commits adjust the counts.
  func loadCounts(in context: ManagedObjectContext) throws -> JobCounts {
    if let counts = state.counts { return counts }
    let names = Set(lanes.keys)
    guard let membership else {
      let counts = try ledger.count(lanes: names, in: context)
      state.counts = counts
      return counts
    }
    // What others do isn't counted here, only that they have done something.
    let changes = try membership.changes()
    if let known = looks.withLock(\.counts), known.lanes == names,
      known.changes == changes || clock.elapsed() < known.goodUntil
    {
      return known.counts
    }
    let began = clock.elapsed()
    let counts = try ledger.count(lanes: names, in: context)
    let ended = clock.elapsed()
    let isLong = ended - began > Looks.Counts.longCount
    looks.withLock {
      $0.counts = Looks.Counts(
        changes: changes, lanes: names,
        goodUntil: isLong ? ended + min((ended - began) * Looks.Counts.pauses, Looks.Counts.longestPause) : ended,
        counts: counts)
    }
    return counts
  }

  /// A job with what is known in memory: its progress if it runs, what it waits for if it doesn't.
  package func completed(_ job: Job) -> Job {
    var job = job
    switch job.state {
    case .running:
      if let (progress, rate) = state.progress(of: job.id, at: clock.now()) {
        (job.progress, job.rate) = (progress, rate)
      }
    case .scheduled:
      if job.isHeld {
        (job.obstacle, job.waitsFor) = (.release, "its release")
      } else if job.isAwaitingFile {
        (job.obstacle, job.waitsFor) = (.file, "its file")
      } else if job.isAwaitingJobs {
        (job.obstacle, job.waitsFor) = (.jobs, job.batchOrJobs)
      }
    case .available where !runsAnywhere(job) && isElsewhere(job) && !isKeptElsewhere(job):
      (job.obstacle, job.waitsFor) = (.file, "host \(job.host ?? ""), which has its files, and where no daemon works")
    case .available:
      let access = operations.access(of: job.kind, job.options)
      if let (obstacle, words) = state.obstacle(to: job, access: access, at: clock.now()) {
        job.obstacle = obstacle
        job.waitsFor = words
      }
    case .retryable, .completed, .cancelled, .discarded: break
    }
    return job
  }
}

extension Job {
  /// The jobs that it follows, where they were asked for.
  fileprivate var batchOrJobs: String {
    guard let after, !after.isEmpty else { return "the jobs that it follows" }
    return (after.count == 1 ? "job " : "jobs ") + after.map { "\($0.job)" }.joined(separator: ", ")
  }
}

extension JobQueue {
  /// Waits until a job has ended and its file has been put away.
  /// - Throws: ``JobQueueError/noSuchJob(_:)``, the store's error, or `CancellationError` when the task is cancelled.
  package func whenEnded(_ id: Int64) async throws -> Job {
    while true {
      try Task.checkCancellation()
      // Registered before looking, so that no end is missed in between.
      let latch = Latch()
      state.add(latch, for: id)
      sharing?.hasten(self)
      defer { state.remove(latch, for: id) }
      if let job = try await endedJob(id) { return job }
      await withTaskCancellationHandler {
        await latch.wait()
      } onCancel: {
        latch.open()
      }
    }
  }

  /// The job, if it has ended and is settled.
  func endedJob(_ id: Int64) async throws -> Job? {
    let job = try await job(id)
    guard job.state.isEnded else { return nil }
    // The main context may have merged the commit before the queue has done what follows from it.
    await ledger.queue.perform { _ in }
    if state.isSettling(id) { return nil }
    guard job.origin?.endsWithArrival == true else { return job }
    // Its entry has arrived since it was read.
    do {
      return try await self.job(id)
    } catch JobQueueError.noSuchJob {
      return job
    }
  }
}

// MARK: Schedules

extension JobQueue: ScheduleRunner.Subject {
  /// The schedules of the configuration with their latest outcomes, in the configuration's order.
  /// - Throws: the store's error.
  package func schedules() async throws -> [Schedule] { try await scheduleRunner.snapshots() }

  /// Makes the job of a schedule now. It counts as the schedule's last job, so the next elapse is left out until it has ended.
  /// Durable when this returns.
  /// - Throws: ``JobQueueError/noSuchSchedule(_:known:)``, ``JobQueueError/refused(id:why:)`` while the schedule's last job
  ///   hasn't ended, or the store's error.
  package func run(schedule name: String, by who: String) async throws -> Job {
    try await scheduleRunner.run(name, by: who, for: self)
  }

  /// Pauses a schedule: what passes of its calendar from now on is left out, until it is resumed. ``run(schedule:by:)`` still
  /// makes its job. Durable when this returns, and outlives the daemon.
  /// - Throws: ``JobQueueError/noSuchSchedule(_:known:)``, or the store's error.
  package func pause(schedule name: String, by who: String) async throws -> Schedule {
    try await scheduleRunner.setPaused(true, name, by: who, for: self)
    return try await schedule(name)
  }

  /// Resumes a paused schedule. No job is made for the times that it missed.
  /// - Throws: as ``pause(schedule:by:)``.
  package func resume(schedule name: String, by who: String) async throws -> Schedule {
    try await scheduleRunner.setPaused(false, name, by: who, for: self)
    return try await schedule(name)
  }

  private func schedule(_ name: String) async throws -> Schedule {
    let all = try await schedules()
    guard let schedule = all.first(where: { $0.name == name }) else {
      throw JobQueueError.noSuchSchedule(name, known: all.map(\.name))
    }
    return schedule
  }

  var isDraining: Bool { state.isDraining }

  func report(_ error: any Error, _ what: String) { report(error, what, job: nil) }

  func isAwaitingFile(_ id: Int64) async throws -> Bool { try await job(id).isAwaitingFile }

  func fetchFile(of job: Job, for schedule: String) async throws {
    try await delegate?.jobQueue(self, fetchFileOf: job, for: schedule)
  }
}

// MARK: Probes

extension JobQueue {
  /// Goes once around: reads the store on the ledger's queue, where every change of a job is written, and then has each
  /// lane begin something, however many operations run there. Whatever hangs keeps it from coming back.
  /// - Parameters:
  ///   - arrived: called at each station, before it lets the round on.
  ///   - finished: called once, after the last; with the store's error, if it can't be read.
  package func round(
    arrived: @escaping @Sendable (ProbeStation) -> Void, finished: @escaping @Sendable ((any Error)?) -> Void
  ) {
    arrived(.store)
    ledger.queue.perform { [lanes = lanes.filter { lanesNow.contains($0.key) }] context in
      do {
        let request = FetchRequest<JobRecord>(entityName: "Job", fetchLimit: 1)
        _ = try context.count(for: request)
      } catch {
        return finished(error)
      }
      Self.pass(lanes.values.sorted { $0.name < $1.name }[...], arrived) { finished(nil) }
    }
  }

  private static func pass(
    _ lanes: ArraySlice<LaneQueue>, _ arrived: @escaping @Sendable (ProbeStation) -> Void,
    _ finished: @escaping @Sendable () -> Void
  ) {
    guard let lane = lanes.first else { return finished() }
    arrived(.lane(lane.name))
    lane.probe { pass(lanes.dropFirst(), arrived, finished) }
  }
}

/// Where a probe of the queue is.
package enum ProbeStation: Sendable, Equatable, CustomStringConvertible {
  /// The queue's store, by its only writer.
  case store
  /// Where the operations of a lane begin.
  case lane(String)

  package var description: String {
    switch self {
    case .store: "the queue's store"
    case .lane(let name): "the lane \(name)"
    }
  }
}
