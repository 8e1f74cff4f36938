import Foundation

/// The jobs of this process that have a slot, and in which state each is. A value, kept by the queue.
///
/// A job has a slot from when it is claimed, or is passed one on (see `JobQueue+Run`), until its end is durable:
///
///     passOnSlot ─▶ beginning ─▶ begin ─▶ running ─▶ end (its end is durable)
///     a claim ─────────────────▶ begin ─▶ running ─▶ end
struct RunningJobs {
  /// How long an operation may run.
  struct Limit {
    var time: Date
    /// Whether it is a time of the day, and no span since the job began.
    let isDeadline: Bool
    let failure: JobFailure
  }

  /// A job whose operation runs, or has ended without its end being durable yet.
  private struct Entry {
    let operation: JobOperation
    var snapshot: Job
    let access: StoreAccess
    var window = ProgressWindow()
    /// When it is to be stopped if it still runs.
    var limit: Limit?
    /// The limit that it was stopped for.
    var passed: Limit?
    /// When its operation was handed to its lane.
    let begun: Date
    /// Whether its claim is durable.
    var isClaimed: Bool
    /// Whether it has ended and another job has its slot, though its end isn't durable.
    var hasPassedOn = false
    /// Whether it took no longer than jobs after which the lane looks ahead.
    var isShort = false
  }

  /// A job that was passed a slot on and whose operation is being made.
  private struct Beginning {
    let lane: String
    let claim: Int64
    var isClaimed = false
    var isStopped = false
  }

  /// How a job that has begun was passed its slot on.
  struct Passing {
    let isStopped: Bool
  }

  /// The longest time that a short job takes, in seconds.
  private static let short: TimeInterval = 0.02

  private var running: [Int64: Entry] = [:]
  private var beginning: [Int64: Beginning] = [:]
  /// How many entries of `running` each lane has, and how many of these have passed their slots on.
  private var inLane: [String: Int] = [:]
  private var passedOn: [String: Int] = [:]

  var isEmpty: Bool { running.isEmpty && beginning.isEmpty }

  // MARK: What each is

  var operations: [JobOperation] { running.values.map(\.operation) }
  var snapshots: [Job] { running.values.map(\.snapshot) }

  func operation(of id: Int64) -> JobOperation? { running[id]?.operation }
  func progress(of id: Int64) -> JobProgress? { running[id]?.snapshot.progress }
  func rate(of id: Int64, at now: Date) -> CurrentRate? {
    running[id].flatMap { $0.window.rate(of: $0.snapshot.progress, at: now) }
  }
  func isShort(_ id: Int64) -> Bool { running[id]?.isShort ?? false }
  func hasBegun(_ id: Int64) -> Bool { running[id] != nil || beginning[id] != nil }

  /// Whether a job's claim is durable; nil if it hasn't begun.
  func isClaimed(_ id: Int64) -> Bool? { running[id]?.isClaimed ?? beginning[id]?.isClaimed }

  /// The number of a job's claim, which needn't be durable yet.
  func claim(of id: Int64) -> Int64? { running[id]?.snapshot.claim ?? beginning[id]?.claim }

  /// The jobs that have begun and whose claims aren't durable, in order.
  var unclaimed: [Int64] {
    let begun = running.filter { !$0.value.isClaimed }.map(\.key)
    return (begun + beginning.filter { !$0.value.isClaimed }.map(\.key)).sorted()
  }

  /// The numbers of the jobs of a lane that hold a slot, in order.
  func holders(in lane: String) -> [Int64] {
    running.filter { $0.value.snapshot.lane == lane && !$0.value.hasPassedOn }.keys.sorted()
  }

  /// How many slots of a lane are taken.
  func count(in lane: String) -> Int {
    (inLane[lane] ?? 0) - (passedOn[lane] ?? 0) + beginning.values.count { $0.lane == lane }
  }

  /// How many of some jobs give a slot back when their ends are durable.
  func holders(among ids: [Int64]) -> Int { ids.count { running[$0]?.hasPassedOn == false } }

  /// How many jobs of a lane have begun without a durable claim.
  func unclaimedCount(in lane: String) -> Int {
    beginning.values.count { $0.lane == lane && !$0.isClaimed }
      + running.values.count { $0.snapshot.lane == lane && !$0.isClaimed }
  }

  // MARK: From slot to end

  /// A job, which is available still, is passed a slot on.
  mutating func reserve(_ job: Job, in lane: String) {
    beginning[job.id] = Beginning(lane: lane, claim: job.claim + 1)
  }

  /// A job's operation is about to run.
  /// - Returns: what happened since it was passed its slot on; nil if it was claimed.
  mutating func begin(
    _ operation: JobOperation, _ job: Job, access: StoreAccess, limit: Limit?, at time: Date
  ) -> Passing? {
    let passing = beginning.removeValue(forKey: job.id)
    running[job.id] = Entry(
      operation: operation, snapshot: job, access: access, limit: limit, begun: time,
      isClaimed: passing?.isClaimed ?? true)
    inLane[job.lane, default: 0] += 1
    return passing.map { Passing(isStopped: $0.isStopped) }
  }

  /// A job's claim is durable.
  mutating func noteClaim(of id: Int64) {
    beginning[id]?.isClaimed = true
    running[id]?.isClaimed = true
  }

  /// An operation has reported how far it is.
  /// - Returns: the job before and, if that is news, after; nil for a job that doesn't run.
  mutating func note(_ progress: JobProgress, of id: Int64, at time: Date) -> (before: Job, after: Job?)? {
    guard let before = running[id]?.snapshot else { return nil }
    running[id]?.window.note(progress, at: time)
    if before.progress == progress { return (before, nil) }
    running[id]?.snapshot.progress = progress
    var after = before
    after.progress = progress
    after.rate = rate(of: id, at: time)
    return (before, after)
  }

  /// A user has asked for a running job to be cancelled, or has withdrawn that.
  mutating func noteCancelRequest(_ isRequested: Bool, of id: Int64) {
    running[id]?.snapshot.isCancelRequested = isRequested
  }

  /// A job is to stop.
  /// - Returns: its operation, if it runs.
  mutating func stop(_ id: Int64) -> JobOperation? {
    beginning[id]?.isStopped = true
    return running[id]?.operation
  }

  /// The clock was set by so many seconds: an operation may take as long as before.
  mutating func moveTimeouts(by seconds: TimeInterval) {
    for id in running.keys where running[id]?.limit?.isDeadline == false {
      running[id]?.limit?.time.addTimeInterval(seconds)
    }
  }

  /// Finds the operations whose time is over, each once.
  /// - Returns: these, and when the next one's is; nil if no limit is ahead.
  mutating func takeOverdue(at now: Date) -> (overdue: [(Int64, JobOperation)], next: Date?) {
    var overdue: [(Int64, JobOperation)] = []
    var next: Date?
    for (id, entry) in running {
      guard let limit = entry.limit, entry.passed == nil else { continue }
      if limit.time <= now {
        running[id]?.passed = limit
        overdue.append((id, entry.operation))
      } else {
        next = min(next ?? limit.time, limit.time)
      }
    }
    return (overdue, next)
  }

  /// What an operation's outcome means for its job: one that was stopped because its time was over has failed.
  func outcome(of id: Int64) -> JobOutcome? {
    guard let entry = running[id] else { return nil }
    let outcome = entry.operation.outcome
    guard let limit = entry.passed else { return outcome }
    switch outcome {
    case .cancelled(let progress), .interrupted(let progress): return .failed(limit.failure, progress)
    case .completed, .failed: return outcome
    }
  }

  /// An operation has ended, and its job still has the slot.
  /// - Returns: how it worked on its store; nil if it has no slot to pass on.
  mutating func noteEnd(of id: Int64, at time: Date) -> (job: Job, access: StoreAccess)? {
    guard let entry = running[id], !entry.hasPassedOn else { return nil }
    running[id]?.isShort = time.timeIntervalSince(entry.begun) <= Self.short
    return (entry.snapshot, entry.access)
  }

  /// A job whose operation has ended passes its slot on to another.
  mutating func passOn(_ id: Int64, to next: Job) {
    guard let lane = running[id]?.snapshot.lane else { return }
    running[id]?.hasPassedOn = true
    passedOn[lane, default: 0] += 1
    reserve(next, in: lane)
  }

  /// A job's end is durable.
  /// - Returns: how it worked on its store; nil if it didn't run here.
  mutating func end(_ id: Int64) -> (job: Job, access: StoreAccess)? {
    guard let entry = running.removeValue(forKey: id) else { return nil }
    inLane[entry.snapshot.lane, default: 1] -= 1
    if entry.hasPassedOn { passedOn[entry.snapshot.lane, default: 1] -= 1 }
    return (entry.snapshot, entry.access)
  }
}
