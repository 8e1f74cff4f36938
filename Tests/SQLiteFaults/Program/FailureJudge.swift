import Jobs
import ManagedObjects

/// What a failure has to say when a call of SQLite has failed: that it was the system, and so may pass.
enum FailureJudge {
  private static let kinds: Set<StoreFailure.Kind> = [.full, .io, .outOfMemory, .cannotOpen, .busy]
  private static let codes: Set<String> = ["store", "disk_full", "file", "busy"]

  /// SQLite can't tell a file that it can't look at from one that was moved.
  private static let moved = "the file was removed or replaced"

  /// What is wrong with an error that a fault led to; nil if nothing is.
  static func problem(_ error: any Error, of fault: Fault) -> String? {
    if "\(fault.call)".hasPrefix("stat:"), "\(error)".contains(moved) { return nil }
    switch error {
    case ManagedObjectError.store(let failure):
      if kinds.contains(failure.kind) { return nil }
      return "a failure of the kind \(failure.kind): \(failure)"
    case let failure as JobFailure:
      if failure.isRetryable, codes.contains(failure.code) { return nil }
      return "a job's failure \(failure.code), which is \(failure.isRetryable ? "" : "not ")retryable: \(failure)"
    default: return "\(type(of: error)): \(error)"
    }
  }
}
