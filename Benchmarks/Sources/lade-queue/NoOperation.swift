import Glibc
import Jobs

/// A job that does nothing.
final class NoOperation: JobOperation, @unchecked Sendable {
  // Sendable: it adds nothing to its superclass.
  override class var access: StoreAccess { .none }

  override func perform() -> JobOutcome {
    Marks.shared.send()
    return .completed(JobProgress())
  }
}

/// A job that runs until it is cancelled.
final class StayOperation: JobOperation, @unchecked Sendable {
  // Sendable: it adds nothing to its superclass.
  override class var access: StoreAccess { .none }

  override func perform() -> JobOutcome {
    Marks.shared.send()
    while !isCancelled, !isDraining { usleep(1000) }
    return isCancelled ? .cancelled(JobProgress()) : .interrupted(JobProgress())
  }
}
