import Foundation

/// What the queue knows of this process's work. Everything durable is in the store.
struct QueueState {
  /// A job whose operation runs, or has ended without its end being durable yet.
  struct Running {
    let operation: JobOperation
    var snapshot: JobSnapshot
    let lane: String
    let access: StoreAccess
    /// When it is to be stopped if it still runs.
    var limit: Limit?
    /// The limit that it was stopped for.
    var passed: Limit?
    /// When its operation was handed to its lane.
    let begun: Date
    /// Whether its claim is durable.
    var isClaimed: Bool
    /// Whether it has ended and another has its slot, though its end isn't durable.
    var hasPassedOn = false
    /// Whether it has ended soon.
    var isShort = false
  }

  /// A job that is next in its lane.
  struct Next {
    let job: JobSnapshot
    let access: StoreAccess
  }

  /// What happened to a job that has a slot and whose operation is being made.
  struct Beginning {
    let lane: String
    var isClaimed = false
    var isStopped = false
  }

  /// How long an operation may run.
  struct Limit {
    let time: Date
    let failure: JobFailure
  }

  var isStarted = false
  var isDraining = false
  var running: [Int64: Running] = [:]
  /// How many of them each lane has.
  var inLane: [String: Int] = [:]
  /// How many of these have passed their slots on.
  var passedOn: [String: Int] = [:]
  /// The jobs of a lane that are next: see `JobQueue+Ahead`.
  var next: [String: ArraySlice<Next>] = [:]
  var beginning: [Int64: Beginning] = [:]
  /// Whether it is in line that the claims of those are written that have begun ahead.
  var areClaimsComing = false
  /// Lanes in which something may be available.
  var lanesWithWork: Set<String> = []
  /// What governs each lane.
  var lanes: [String: LaneControl] = [:]
  /// Who works on which data store.
  var use = StoreUse()
  /// Whether it is being looked for jobs to remove.
  var isPruning = false
  /// Ends that couldn't be written yet.
  var unwritten: [Int64: JobOutcome] = [:]
  /// Jobs that have ended and whose file is being put away.
  var settling: Set<Int64> = []
  /// Jobs that have ended and whose entries haven't arrived: see `JobQueue+Files`.
  var unarrived: Set<Int64> = []
  /// Whether some of these would have been removed.
  var isPruningCut = false
  /// Who waits for the end of a job, and who waits for nothing to run any more.
  var waiters: [Int64: [Latch]] = [:]
  var drainers: [Latch] = []
  /// nil until they have been counted.
  var counts: JobCounts?

  /// A job doesn't run any more: its slot and its store are free.
  mutating func forget(_ id: Int64) {
    guard let running = running.removeValue(forKey: id) else { return }
    inLane[running.lane, default: 1] -= 1
    if running.hasPassedOn { passedOn[running.lane, default: 1] -= 1 }
    unwritten[id] = nil
    let wasClosed = !use.closed.isEmpty
    use.leave(id, store: running.snapshot.store, access: running.access)
    // Those that waited for the store may be in any lane.
    if wasClosed { lanesWithWork.formUnion(lanes.keys) }
  }

  /// How many jobs of a lane may begin now.
  func slots(of lane: String, ended: Int = 0, at time: Date) -> Int {
    let taken = (inLane[lane] ?? 0) - (passedOn[lane] ?? 0) + beginning.values.count { $0.lane == lane }
    return lanes[lane]?.slots(running: taken - ended, at: time) ?? 0
  }

  /// Jobs that have ended and about which something is still done.
  var busy: Set<Int64> { settling.union(unarrived) }

  var isQuiet: Bool { running.isEmpty && beginning.isEmpty && settling.isEmpty }
}
