// A job's way through the queue:
//
//   submit ─▶ the ledger writes it ─▶ `offer`: its lane has work ─▶ a claim, as soon as the lane has a slot free
//     ─▶ `run`: its operation goes to an OperationQueue of the lane ─▶ the operation ends ─▶ the ledger writes the end
//     ─▶ the slot is free: the next claim ─▶ `settle`: the file is put away ─▶ whoever waited is told
//
// What has to be done about a job follows from what was committed, never from what was asked for. The slot of an
// operation stays taken until its end is durable, or passes to the job that is next where jobs are short (see
// `JobQueue+Ahead`); an end that can't be written is tried again every second, and passes nothing on.

package import Logging
package import ManagedObjects
import Synchronization

/// Takes jobs in, runs them in lanes, and says how they fare. Safe from any thread.
package final class JobQueue: Sendable {
  /// What the queue asks of whoever made it.
  package struct Hooks: Sendable {
    /// Called once for each job that has ended, after that is durable: puts its file away. What it throws is logged. A
    /// kill before its end leaves the file where it was: see ``JobQueue/settle(_:)``.
    package var finished: @Sendable (JobSnapshot) async throws -> Void
    /// Called before a job that has ended is tried again: brings its file back to `active/`, or throws to refuse.
    package var revive: @Sendable (JobSnapshot) async throws -> Void
    /// Called once for each job that was removed from the queue, after that is durable: removes what is kept of it
    /// elsewhere, its reject file for one. What it throws is logged.
    package var removed: @Sendable (JobSnapshot) async throws -> Void
    /// Called for each job that a schedule made and that waits for its file, after that is durable, and again after a
    /// restart: brings the file to `active/` and says so by ``JobQueue/fileArrived(_:activeName:by:)``, or cancels the
    /// job. What it throws is logged. The second argument is the schedule's name.
    package var fetch: @Sendable (JobSnapshot, String) async throws -> Void
    /// Called for each change of a job that is durable, in their order, with where it stood before; nil for one that is
    /// new. It mustn't wait for anything. So with the others that aren't asynchronous.
    package var moved: @Sendable (JobSnapshot, JobState?) -> Void
    /// Called each time an operation says how far it is, on its thread: with the job as it was known before.
    package var progressed: @Sendable (JobSnapshot, JobProgress) -> Void

    /// Hooks that do nothing, where none are given.
    package init(
      finished: @escaping @Sendable (JobSnapshot) async throws -> Void = { _ in },
      revive: @escaping @Sendable (JobSnapshot) async throws -> Void = { _ in },
      removed: @escaping @Sendable (JobSnapshot) async throws -> Void = { _ in },
      fetch: @escaping @Sendable (JobSnapshot, String) async throws -> Void = { _, _ in },
      moved: @escaping @Sendable (JobSnapshot, JobState?) -> Void = { _, _ in },
      progressed: @escaping @Sendable (JobSnapshot, JobProgress) -> Void = { _, _ in }
    ) {
      self.finished = finished
      self.revive = revive
      self.removed = removed
      self.fetch = fetch
      self.moved = moved
      self.progressed = progressed
    }
  }

  // Constant.

  let ledger: JobLedger
  let operations: OperationCatalogue
  let environment: JobEnvironment
  let hooks: Hooks
  let clock: JobClock
  let random: @Sendable () -> Double
  let logger: Logger
  let hub = JobEventHub()
  let timer: WakeTimer
  /// Wakes for what is to be removed.
  let pruneTimer: WakeTimer

  // Under its lock; the lock is never held while foreign code runs.

  let state = Mutex(QueueState())
  let settings: Mutex<Settings>
  let dueSchedules = Mutex<[String: ScheduleDue]>([:])

  /// A queue over the store of `coordinator`, whose model is ``QueueModel``. Nothing runs before ``start()``.
  ///
  /// The store must be opened so that a save is safe from a loss of power when it returns, for so is then a submission.
  /// - Parameter random: numbers from 0 up to 1 that spread the retries.
  /// - Throws: ``JobQueueError/invalidLanes(_:)``.
  package init(
    coordinator: PersistentStoreCoordinator, lanes: [LaneConfiguration], operations: OperationCatalogue,
    environment: JobEnvironment, hooks: Hooks = Hooks(), retention: JobRetention = JobRetention(),
    schedules: [ScheduleConfiguration] = [],
    backoff: Backoff = Backoff(), clock: JobClock = .system,
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }, logger: Logger
  ) throws(JobQueueError) {
    let lanes = try Self.checked(lanes)
    self.operations = operations
    self.environment = environment
    self.hooks = hooks
    self.clock = clock
    self.random = random
    self.logger = logger
    ledger = JobLedger(coordinator: coordinator, now: clock.now, backoff: backoff)
    timer = WakeTimer(clock: clock)
    pruneTimer = WakeTimer(clock: clock)
    state.withLock { $0.lanes = lanes.mapValues { LaneControl($0) } }
    settings = Mutex(Settings(lanes: lanes.mapValues { Lane($0) }, retention: retention, schedules: schedules))
    ledger.observe(self)
  }

  /// The context on the main queue that follows what the queue writes. Its objects are ``Job`` and ``JobTransition``.
  package var mainContext: ManagedObjectContext { ledger.mainContext }

  /// What happens to jobs from now on: every transition and all progress. A slow listener gets only the
  /// newest of each job, and of no more than `capacity` jobs. The stream ends when the queue has been drained.
  package func events(capacity: Int = 4096) -> AsyncStream<JobSnapshot> { hub.stream(capacity: capacity) }
}
