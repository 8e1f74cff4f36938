import Jobs
import Logging
import ServiceLifecycle
import Spool

/// Watches the spool until the daemon stops; then the entry in hand is finished and no other is taken.
struct SpoolService: Service {
  let intake: SpoolIntake

  func run() async throws {
    try await cancelWhenGracefulShutdown { try await intake.run() }
  }
}

/// Runs jobs until the daemon stops; then running ones end at their next batch and go on after the next start.
struct QueueService: Service {
  let queue: JobQueue
  let current: CurrentConfiguration
  let logger: Logger

  func run() async throws {
    try await gracefulShutdown()
    let extender = TimeoutExtender(logger: logger)
    defer { extender.end() }
    await queue.drain(timeout: current.now.configuration.drainTimeout)
  }
}
