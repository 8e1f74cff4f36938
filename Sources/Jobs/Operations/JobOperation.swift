// An operation runs on a serial queue of its own, not on its lane's. Dispatch gives every serial queue a thread at once,
// but a concurrent queue no more than there are cores while these are busy: two imports would keep a lane of maintenance
// from starting anything. So to its OperationQueue it is an asynchronous operation, which says itself when it is done.
//
// Where jobs are short, the next of the lane follows in the same place and on the same thread, and the slot that the
// OperationQueue counts is given back with the last of them (see `JobQueue+Ahead`): to go through the OperationQueue and
// its threads takes longer than such a job.

import Dispatch
public import Foundation
package import ManagedObjects
import Synchronization

/// The work of one job: a subclass overrides ``perform()``.
///
/// `perform()` runs on a queue of its own and may block. It builds its own private context there, saves whole
/// batches, and after each batch reports progress and looks at two flags:
/// - `isCancelled`: somebody wants the job stopped. Return ``JobOutcome/cancelled(_:)``.
/// - ``isDraining``: the daemon stops. Return ``JobOutcome/interrupted(_:)``; the job goes on after the next start.
///
/// It may be killed at any instruction and run again from the beginning, so what it has done already must be noted where
/// its work is (rule 4 of the design).
///
/// ```swift
/// final class CountOperation: JobOperation, @unchecked Sendable {
///   override func perform() throws -> JobOutcome {
///     var progress = JobProgress()
///     for _ in 0..<10 {
///       if isCancelled { return .cancelled(progress) }
///       if isDraining { return .interrupted(progress) }
///       progress.records += 1
///       report(progress)
///     }
///     return .completed(progress)
///   }
/// }
/// ```
open class JobOperation: Operation, @unchecked Sendable {
  // Sendable: `job` and `environment` are constant, the flag is atomic, and `ending` has its lock. A subclass's own
  // properties are touched by `perform` only.

  /// The job as it stood when it was claimed.
  public let job: JobSnapshot
  /// What the operation works with.
  public let environment: JobEnvironment
  private let draining = Atomic<Bool>(false)
  private let ending = Mutex(Ending())
  /// Told when the operation has done its work; what it returns follows in its place.
  private let successor = Mutex<(@Sendable () -> JobOperation?)?>(nil)

  private struct Ending {
    var phase = Phase.waiting
    var outcome: JobOutcome?
    var latest: JobProgress?
  }

  private enum Phase { case waiting, executing, finished }

  /// How operations of this class share the data store that their job names: beside others, unless a subclass says
  /// that it needs the store to itself, or not at all.
  open class var access: StoreAccess { .shared }

  /// An operation for a job. A subclass that overrides it calls it first.
  public required init(job: JobSnapshot, environment: JobEnvironment) {
    self.job = job
    self.environment = environment
    super.init()
  }

  /// Whether the daemon stops, so that the operation is to stop at its next batch. May be read from any thread.
  public final var isDraining: Bool { draining.load(ordering: .relaxed) }

  /// Looks at what a submission says before a job is made of it, so that whoever submits it is told of mistakes at once.
  /// What only the store's content can tell is left to ``perform()``, which looks at everything again.
  /// - Parameter model: the model of the data store that it names.
  /// - Throws: what the job would fail with.
  package class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {}

  /// Does the work. Errors that it throws are failures: see ``JobFailure/init(_:)``.
  open func perform() throws -> JobOutcome {
    throw JobFailure(
      code: "not_implemented", message: "\(type(of: self)) doesn't override perform()", isRetryable: false)
  }

  /// Says how far the work is. Cheap, and may be called from any thread; after every batch is often enough.
  public final func report(_ progress: JobProgress) {
    ending.withLock { $0.latest = progress }
    environment.report(progress)
  }

  /// True: see above.
  public final override var isAsynchronous: Bool { true }
  /// Whether it runs.
  public final override var isExecuting: Bool { ending.withLock { $0.phase == .executing } }
  /// Whether it has ended, or was cancelled before it ran.
  public final override var isFinished: Bool { ending.withLock { $0.phase == .finished } }

  /// Called by the operation queue, when it is the operation's turn.
  public final override func start() {
    willChangeValue(for: \.isExecuting)
    ending.withLock { $0.phase = .executing }
    didChangeValue(for: \.isExecuting)
    DispatchQueue(label: "job.\(job.id)").async {
      self.main()
      var next = self.takeSuccessor()
      while let operation = next {
        operation.ending.withLock { $0.phase = .executing }
        operation.main()
        next = operation.takeSuccessor()
        operation.ending.withLock { $0.phase = .finished }
      }
      self.finish()
    }
  }

  /// Has somebody told, once, on the operation's thread, when its work is done or it was cancelled before; what that
  /// returns follows in its place.
  final func whenDone(_ body: @escaping @Sendable () -> JobOperation?) { successor.withLock { $0 = body } }

  private func takeSuccessor() -> JobOperation? {
    let body = successor.withLock { body in
      defer { body = nil }
      return body
    }
    return body?()
  }

  private func finish() {
    willChangeValue(for: \.isExecuting)
    willChangeValue(for: \.isFinished)
    ending.withLock { $0.phase = .finished }
    didChangeValue(for: \.isExecuting)
    didChangeValue(for: \.isFinished)
  }

  /// Runs ``perform()`` and keeps its outcome.
  public final override func main() {
    let outcome: JobOutcome
    if isCancelled {
      outcome = .cancelled(job.progress)
    } else if isDraining {
      outcome = .interrupted(job.progress)
    } else {
      do {
        outcome = try perform()
      } catch {
        let progress = ending.withLock { $0.latest } ?? job.progress
        outcome = .failed(JobFailure(error), progress)
      }
    }
    ending.withLock { $0.outcome = outcome }
  }

  /// Asks it to stop at its next batch because the daemon stops.
  final func drain() { draining.store(true, ordering: .relaxed) }

  /// How it ended. An operation that was cancelled before its turn never ran.
  final var outcome: JobOutcome { ending.withLock { $0.outcome } ?? .cancelled(job.progress) }
}
