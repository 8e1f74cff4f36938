// A job's way through the queue:
//
//   submit ─▶ the ledger writes it ─▶ `offer`: its lane has work ─▶ a claim, as soon as the lane has a slot free
//     ─▶ `run`: its operation goes to an OperationQueue of the lane ─▶ the operation ends ─▶ the ledger writes the end
//     ─▶ the slot is free: the next claim ─▶ `settle`: the file is put away ─▶ waiters go on
//
// What is done about a job follows from what was committed, never from what was requested. The slot of an
// operation stays taken until its end is durable, or passes to the job that is next where jobs are short (see
// `JobQueue+Run`); an end that can't be written is tried again every second, and passes nothing on.

package import Logging
package import ManagedObjects
import Synchronization

/// Accepts jobs, runs them in lanes and reports on them. Safe from any thread.
package final class JobQueue: Sendable {
  // Constant.

  let ledger: JobLedger
  let operations: OperationCatalogue
  let environment: JobEnvironment
  let clock: JobClock
  let random: @Sendable () -> Double
  let logger: Logger
  let hub = JobEventHub()
  let timer: WakeTimer
  /// Wakes up for jobs that get too old to be kept.
  let pruneTimer: WakeTimer

  // Under its lock; the lock is never held while foreign code runs.

  private let delegateReference = Mutex(WeakDelegate())
  let state = Mutex(QueueState())
  let settings: Mutex<Settings>
  let dueSchedules = Mutex(DueSchedules())

  /// A queue over the store of `coordinator`, whose model is ``QueueModel``. Nothing runs before ``start()``.
  ///
  /// The store must be opened so that a save is safe from a loss of power when it returns, for so is then a submission.
  /// - Parameter random: numbers from 0 up to 1 that spread the retries.
  /// - Throws: ``JobQueueError/invalidLanes(_:)``.
  package init(
    coordinator: PersistentStoreCoordinator, lanes: [LaneConfiguration], operations: OperationCatalogue,
    environment: JobEnvironment, retention: JobRetention = JobRetention(),
    schedules: [JobSchedule] = [],
    backoff: Backoff = Backoff(), clock: JobClock = .system,
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }, logger: Logger
  ) throws(JobQueueError) {
    let lanes = try Self.checked(lanes)
    self.operations = operations
    self.environment = environment
    self.clock = clock
    self.random = random
    self.logger = logger
    ledger = JobLedger(coordinator: coordinator, now: clock.now, backoff: backoff)
    timer = WakeTimer(clock: clock)
    pruneTimer = WakeTimer(clock: clock)
    state.withLock { $0.lanes = lanes.mapValues { LaneControl($0) } }
    settings = Mutex(Settings(lanes: lanes.mapValues { LaneQueue($0) }, retention: retention, schedules: schedules))
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
  package var mainContext: ManagedObjectContext { ledger.mainContext }

  /// What happens to jobs from now on: every transition and all progress. A slow listener gets only the
  /// newest of each job, and of no more than `capacity` jobs. The stream ends when the queue has been drained.
  package func events(capacity: Int = 4096) -> AsyncStream<Job> { hub.stream(capacity: capacity) }
}
