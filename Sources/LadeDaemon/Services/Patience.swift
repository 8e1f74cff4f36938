import Logging
import Systemd

/// Asks the service manager for more time, again and again, while something that is under way takes long: a migration at the
/// start, jobs that come to an end of a batch at the stop. It ends with `end()`.
final class Patience: Sendable {
  /// How often it asks, and how much each time.
  private static let (interval, time): (Duration, Duration) = (.seconds(10), .seconds(30))

  private let asking: Task<Void, Never>

  /// Begins to ask.
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

  /// Asks no more. May be called again.
  func end() { asking.cancel() }
}
