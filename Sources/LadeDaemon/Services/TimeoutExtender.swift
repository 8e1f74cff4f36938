import Logging
import Systemd

/// Extends the service manager's timeout (`EXTEND_TIMEOUT_USEC=`) while something takes long: a migration at the start, or
/// jobs that finish a batch at the stop. It ends with `end()`.
final class TimeoutExtender: Sendable {
  /// How often it extends the timeout, and by how much.
  private static let (interval, time): (Duration, Duration) = (.seconds(10), .seconds(30))

  private let asking: Task<Void, Never>

  /// Begins to extend the timeout.
  init(logger: Logger) {
    asking = Task {
      while !Task.isCancelled {
        do {
          try ServiceManager.notify(.extendTimeout(Self.time))
        } catch {
          logger.warning("\(error)")
        }
        do { try await Task.sleep(for: Self.interval) } catch { return }
      }
    }
  }

  deinit { end() }

  /// Stops extending. May be called more than once.
  func end() { asking.cancel() }
}
