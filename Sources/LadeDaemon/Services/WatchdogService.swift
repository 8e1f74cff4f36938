// The service manager hears from here, and hears only what is true: that a round has come back from the queue's store, from
// every lane and from the main queue. Whatever hangs there, the pings end, and the service manager starts the daemon anew.

import Dispatch
import Jobs
import Logging
import ServiceLifecycle
import Synchronization
import Systemd

/// Pings the service manager's watchdog, if it has one for this service (`WatchdogSec=`).
struct WatchdogService: Service {
  let queue: JobQueue
  let logger: Logger

  /// Where the round is, while it is under way.
  private final class Round: Sendable {
    let station = Mutex<(name: String, since: ContinuousClock.Instant)?>(nil)
  }

  func run() async throws {
    guard let limit = try ServiceManager.watchdogInterval() else { return try await gracefulShutdown() }
    let round = Round()
    // A round may take the other half.
    let interval = limit / 2
    try await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        begin(round)
        do { try await Task.sleep(for: interval) } catch is CancellationError { return }
      }
    }
  }

  private func begin(_ round: Round) {
    if let (name, since) = round.station.withLock({ $0 }) {
      logger.error(
        "watchdog: no answer from \(name)",
        metadata: JournalMessage.watchdogUnanswered.metadata(
          ["seconds": "\(since.duration(to: .now).components.seconds)"]))
      return
    }
    round.station.withLock { $0 = ("the queue's store", .now) }
    queue.round(
      arrived: { station in round.station.withLock { $0 = (station.description, .now) } },
      finished: { error in
        if let error {
          // It answers, and has its own way of saying what is wrong with it.
          logger.error("watchdog: the queue's store can't be read: \(error)")
        }
        round.station.withLock { $0 = ("the main queue", .now) }
        DispatchQueue.main.async {
          do {
            try ServiceManager.notify(.watchdog)
          } catch {
            logger.warning("\(error)")
          }
          round.station.withLock { $0 = nil }
        }
      })
  }
}
