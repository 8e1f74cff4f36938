import Foundation

/// What the queue knows of this process's work; everything durable is in the store. Each member owns its state; the methods
/// here are those that concern several of them. The queue keeps it under one lock.
struct QueueState {
  var isStarted = false
  var isDraining = false
  var running = RunningJobs()
  var upcoming = UpcomingJobs()
  var settling = SettlingJobs()
  var waiters = JobWaiters()
  /// What governs each lane.
  var lanes: [String: LaneControl] = [:]
  /// Lanes in which something may be available.
  var lanesWithWork: Set<String> = []
  /// Who works on which data store.
  var use = StoreUse()
  /// Whether a request to write the claims of those that have begun without one is in line.
  var areClaimsComing = false
  /// Ends that couldn't be written yet.
  var unwritten: [Int64: JobOutcome] = [:]
  /// nil until they have been counted.
  var counts: JobCounts?

  var isQuiet: Bool { running.isEmpty && !settling.isPuttingAway }

  /// How many jobs of a lane may begin now.
  func slots(of lane: String, ended: Int = 0, at time: Date) -> Int {
    lanes[lane]?.slots(running: running.count(in: lane) - ended, at: time) ?? 0
  }

  /// How many available jobs of a lane have begun, or may begin at any time.
  func ahead(in lane: String) -> Int { upcoming.count(in: lane) + running.unclaimedCount(in: lane) }

  /// A job doesn't run any more: its slot and its store are free.
  mutating func end(_ id: Int64) {
    guard let (job, access) = running.end(id) else { return }
    unwritten[id] = nil
    let wasClosed = !use.closed.isEmpty
    use.leave(id, store: job.store, access: access)
    // Those that waited for the store may be in any lane.
    if wasClosed { lanesWithWork.formUnion(lanes.keys) }
  }

  /// The operation of a job has ended: the next job of its lane, if there is one that may have its slot.
  mutating func passOnSlot(of id: Int64, at time: Date) -> Job? {
    guard let (job, access) = running.noteEnd(of: id, at: time), isStarted, !isDraining, unwritten.isEmpty,
      let next = upcoming.first(in: job.lane), slots(of: job.lane, ended: 1, at: time) > 0,
      letsIn(next, after: job, access)
    else { return nil }
    upcoming.removeFirst(in: job.lane)
    running.passOn(id, to: next.job.id)
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
