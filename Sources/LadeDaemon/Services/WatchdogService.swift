// The service manager is pinged only when a probe has come back from the queue's store, from every lane and from the main queue.
// If any of them hangs, the pings end and the service manager restarts the daemon.

import Jobs
import Logging
import ServiceLifecycle
import Systemd

/// Pings the service manager's watchdog, if it has one for this service (`WatchdogSec=`).
struct WatchdogService: Service {
  private let rounds: LivenessProbe
  private let logger: Logger

  init(queue: JobQueue, logger: Logger) {
    rounds = LivenessProbe(queue)
    self.logger = logger
  }

  func run() async throws {
    guard let limit = try ServiceManager.watchdogInterval() else { return try await gracefulShutdown() }
    // A round may take the other half.
    let interval = limit / 2
    try await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        begin()
        do { try await Task.sleep(for: interval) } catch is CancellationError { return }
      }
    }
  }

  private func begin() {
    if let standing = rounds.underWay {
      logger.error(
        "watchdog: no answer from \(standing.station)",
        metadata: JournalMessage.watchdogUnanswered.metadata(
          ["seconds": "\(standing.since.duration(to: .now).components.seconds)"]))
      return
    }
    rounds.begin { _, error in
      if let error {
        // It answers, and reports its own errors.
        logger.error("watchdog: the queue's store can't be read: \(error)")
      }
      do {
        try ServiceManager.notify(.watchdog)
      } catch {
        logger.warning("\(error)")
      }
    }
  }
}
