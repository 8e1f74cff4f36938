import Synchronization

/// The first error of several threads.
final class Failures: Sendable {
  private let first = Mutex<(any Error)?>(nil)

  /// Runs `body`, and keeps what it throws.
  func catching(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      first.withLock { $0 = $0 ?? error }
    }
  }

  /// Throws the error that was kept.
  func check() throws {
    if let error = first.withLock({ $0 }) { throw error }
  }
}
