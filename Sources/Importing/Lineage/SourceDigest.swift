import Dispatch
import Glibc
import Synchronization

/// The SHA-256 of a file, computed while the file is imported, on a thread of its own.
final class SourceDigest: @unchecked Sendable {
  // Sendable: `result` is written before `done` is signalled and read after it. The file's descriptor is read by `pread` only.
  private let done = DispatchSemaphore(value: 0)
  private let isCancelled = Mutex(false)
  private var result: Result<String?, any Error> = .success(nil)

  /// One that is known already.
  init(known digest: String) {
    result = .success(digest)
    done.signal()
  }

  init(_ source: any IdentifiedSource) {
    // The import may read the same descriptor at the same time: `pread` doesn't move its position.
    nonisolated(unsafe) let source = source
    let niceness = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
    DispatchQueue(label: "import.digest", qos: .utility).async { [self] in
      if niceness > 0 { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) }
      result = Result { try source.digest { isCancelled.withLock { $0 } } }
      done.signal()
    }
  }

  /// Waits for it; nil if it was cancelled.
  func value() throws -> String? {
    done.wait()
    done.signal()
    return try result.get()
  }

  /// Ends it, and waits until the file isn't used any more.
  func cancel() {
    isCancelled.withLock { $0 = true }
    done.wait()
    done.signal()
  }
}
