import Dispatch
import Glibc
import Synchronization

/// Runs an actor's work on a dispatch queue of its own, where it may block on the file system without occupying a thread of
/// the cooperative pool.
final class SpoolExecutor: SerialExecutor {
  let queue: DispatchQueue
  private let inPlace = Mutex(InPlace())

  private struct InPlace {
    /// The thread that has the queue in ``run(_:)``.
    var thread: pthread_t?
    /// The actor's work that it has yet to do.
    var jobs: [UnownedJob] = []
  }

  init(label: String) {
    queue = DispatchQueue(label: label, qos: .userInitiated)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isTaken = inPlace.withLock { inPlace in
      guard let thread = inPlace.thread, pthread_equal(thread, pthread_self()) != 0 else { return false }
      inPlace.jobs.append(job)
      return true
    }
    if !isTaken { queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) } }
  }

  /// Runs `body` on the queue, and then what it has the actor do, on the caller's thread: so a thread that waits for events does
  /// itself what follows from them, and needn't wake up another. Returns when that is done, or waits for something else.
  func run(_ body: () -> Void) {
    queue.sync {
      inPlace.withLock { $0.thread = pthread_self() }
      body()
      while let job = nextInPlace() { job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
  }

  private func nextInPlace() -> UnownedJob? {
    inPlace.withLock { inPlace in
      if inPlace.jobs.isEmpty {
        inPlace.thread = nil
        return nil
      }
      return inPlace.jobs.removeFirst()
    }
  }

  func checkIsolated() {
    dispatchPrecondition(condition: .onQueue(queue))
  }
}
