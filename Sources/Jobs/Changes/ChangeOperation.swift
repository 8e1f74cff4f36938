import Foundation
import Synchronization

/// Changes jobs of its own queue: kind `change`. The queue makes such jobs, see ``JobQueue/submit(_:by:)``.
///
/// The work is the queue's, which is asynchronous. The operation's thread, which is its lane's, waits for it.
package final class ChangeOperation: JobOperation, @unchecked Sendable {
  // Sendable: it adds nothing to its superclass.

  /// The kind of job that it does.
  package static let kind = "change"
  package override class var access: StoreAccess { .none }

  package override func perform() throws -> JobOutcome {
    guard let change = environment.changeJobs else {
      throw JobFailure(
        code: "unsupported", message: "jobs of the kind \(Self.kind) are made by the queue alone", isRetryable: false)
    }
    let (end, answer) = (DispatchSemaphore(value: 0), Answer())
    let work = Task {
      let result: Result<JobOutcome, any Error>
      do { result = .success(try await change(self)) } catch { result = .failure(error) }
      answer.value.withLock { $0 = result }
      end.signal()
    }
    // It may wait for files, which only its task's cancellation ends.
    while end.wait(timeout: .now() + .milliseconds(250)) == .timedOut {
      if isCancelled || isDraining { work.cancel() }
    }
    return try answer.value.withLock { $0 }?.get() ?? .interrupted(job.progress)
  }

  private final class Answer: Sendable {
    let value = Mutex<Result<JobOutcome, any Error>?>(nil)
  }
}
