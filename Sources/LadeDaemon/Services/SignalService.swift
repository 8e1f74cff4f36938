// SIGTERM and SIGINT stop the daemon, each its own way of the same: the first asks running jobs to come to the end of a batch,
// the second ends the process as the signal would have done by itself. Nothing is lost by that: see “exactly once”.

import Glibc
import Logging
import UnixSignals

/// Handles the process's signals. Before it runs, SIGTERM ends a daemon that is still starting.
struct SignalService: Sendable {
  let logger: Logger
  /// Asks the daemon to stop; called once.
  let stop: @Sendable () async -> Void
  /// Writes the daemon's state to the log.
  let dump: @Sendable () async -> Void
  /// Has the configuration read again, and says itself what comes of that.
  let reload: @Sendable () async -> Void

  /// Keeps what would end a daemon that doesn't listen yet from doing so: only SIGTERM and SIGINT may.
  static func ignoreOthers() {
    for number in [SIGHUP, SIGUSR1] { signal(number, SIG_IGN) }
  }

  /// The signals that come from now on; none is lost any more.
  static func trapped() async -> UnixSignalsSequence {
    await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup, .sigusr1)
  }

  /// Handles signals until the task is cancelled.
  func listen(to signals: UnixSignalsSequence) async {
    var isStopping = false
    for await signal in signals {
      switch signal {
      case .sigusr1: await dump()
      // A reload may take long, and other signals must be handled in the meantime.
      case .sighup: Task { await reload() }
      case let signal where !isStopping:
        isStopping = true
        logger.notice(
          "\(signal): stopping; once more ends it at once", metadata: JournalMessage.daemonStopping.metadata())
        // Stopping may take long, and the next signal must be handled in the meantime.
        Task { await stop() }
      case let signal:
        logger.notice("\(signal) again: ending at once; what runs goes on after the next start")
        end(signal == .sigint ? SIGINT : SIGTERM)
      }
    }
  }

  private func end(_ number: Int32) {
    signal(number, SIG_DFL)
    raise(number)
  }
}
