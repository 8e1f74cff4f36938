import Foundation
import Logging
import Synchronization

/// Removes ended jobs by age and by number, a few in each transaction and after the requests that wait for the ledger. A timer
/// wakes up for the next job that gets too old, at most once a minute.
///
/// What there is to prune is the queue's to say: see ``JobPruner/Subject``. Everything runs on the ledger's queue, except
/// ``pruneSoon(_:)`` and ``stop()``, which may be called from any thread.
final class JobPruner: Sendable {
  /// The queue whose jobs are pruned.
  protocol Subject: AnyObject, Sendable {
    /// Whether jobs may be removed now: the queue has started and isn't draining.
    var mayPrune: Bool { get }
    /// How long ended jobs are kept.
    var retention: JobRetention { get }
    /// How many jobs have ended, and which of them something is still done about. These stay.
    func endedJobs() -> (count: Int, busy: Set<Int64>)
    /// Pruning has passed over busy jobs.
    /// - Returns: whether some still are, so that their end has the queue prune again.
    func notePruningCut() -> Bool
  }

  private static let ended: [JobState] = JobState.allCases.filter(\.isEnded)
  /// Seconds between two looks, at least.
  private static let leastPause: TimeInterval = 60

  private let ledger: JobLedger
  private let clock: JobClock
  private let logger: Logger
  private let timer: WakeTimer
  /// Whether a run is under way, which may take several turns of the ledger's queue.
  private let isPruning = Mutex(false)

  init(ledger: JobLedger, clock: JobClock, logger: Logger) {
    self.ledger = ledger
    self.clock = clock
    self.logger = logger
    timer = WakeTimer(clock: clock)
  }

  /// Removes jobs that are kept no longer, and sets the timer for the next.
  func prune(_ subject: any Subject) {
    let mayPrune = subject.mayPrune
    let isFirst = isPruning.withLock { isPruning in
      defer { isPruning = mayPrune }
      return !isPruning
    }
    if mayPrune, isFirst { pruneSome(subject) }
  }

  /// The same, as soon as the ledger's queue comes to it.
  func pruneSoon(_ subject: any Subject) {
    ledger.queue.perform { _ in self.prune(subject) }
  }

  /// Prunes when the number of ended jobs exceeds the limit by a tenth, so that it doesn't happen after each end.
  func pruneIfMany(_ subject: any Subject) {
    guard let most = subject.retention.count else { return }
    if subject.endedJobs().count > most + max(100, most / 10) { prune(subject) }
  }

  /// Sets the timer for a job that has ended.
  func wake(for job: Job, of subject: any Subject) {
    guard let age = subject.retention.age[job.state], let end = job.endedAt else { return }
    wake(at: end.addingTimeInterval(age), subject)
  }

  /// Cancels the timer, and waits for a turn that is under way, of a queue that may not be pruned any more.
  func stop() async {
    await withCheckedContinuation { continuation in
      ledger.queue.perform { _ in continuation.resume() }
    }
    timer.cancel()
  }

  private func wake(at time: Date, _ subject: any Subject) {
    timer.arm(max(time, clock.now().addingTimeInterval(Self.leastPause))) { [weak self, weak subject] in
      guard let self, let subject else { return }
      pruneSoon(subject)
    }
  }

  private func pruneSome(_ subject: any Subject) {
    // The queue may have begun to drain since the last turn, and its store is closed after that.
    guard subject.mayPrune else { return isPruning.withLock { $0 = false } }
    let retention = subject.retention
    do {
      if try pruneByAge(subject, retention) || pruneByCount(subject, retention) {
        ledger.queue.perform { _ in self.pruneSome(subject) }
        return
      }
      for (state, age) in retention.age {
        if let first = try ledger.firstEnds(of: state, limit: 1).first {
          wake(at: first.addingTimeInterval(age), subject)
        }
      }
    } catch {
      logger.error("jobs: what has ended couldn't be removed", metadata: ["error": "\(error)"])
      wake(at: clock.now(), subject)
    }
    isPruning.withLock { $0 = false }
  }

  /// - Returns: whether there may be more.
  private func pruneByAge(_ subject: any Subject, _ retention: JobRetention) throws -> Bool {
    let busy = subject.endedJobs().busy
    for (state, age) in retention.age {
      let pruned = try ledger.prune(
        state, endedBefore: clock.now().addingTimeInterval(-age), limit: JobLedger.prunedTogether, busy: busy)
      if pruned.found == JobLedger.prunedTogether, pruned.removed > 0 { return true }
    }
    return false
  }

  /// - Returns: whether there may be more.
  private func pruneByCount(_ subject: any Subject, _ retention: JobRetention) throws -> Bool {
    guard let most = retention.count else { return false }
    let (number, busy) = subject.endedJobs()
    let excess = min(number - most, JobLedger.prunedTogether)
    guard excess > 0 else { return false }
    let ends = try Self.ended.flatMap { state in
      try ledger.firstEnds(of: state, limit: excess).map { (state: state, time: $0) }
    }
    let first = ends.sorted { $0.time < $1.time }.prefix(excess)
    var removed = 0
    for (state, group) in Dictionary(grouping: first, by: \.state) {
      guard let last = group.last else { continue }
      removed += try ledger.prune(state, endedBefore: last.time, limit: group.count, busy: busy).removed
    }
    // Jobs whose files are still being put away are looked at when that is done.
    if !busy.isEmpty, !subject.notePruningCut() { return true }
    return excess == JobLedger.prunedTogether && removed > 0
  }
}
