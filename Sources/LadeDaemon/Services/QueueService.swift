import Jobs
import Logging
import ServiceLifecycle

/// Runs jobs until the daemon stops; then running ones end at their next batch and go on after the next start.
struct QueueService: Service {
  let queue: JobQueue
  let current: CurrentConfiguration
  let logger: Logger

  func run() async throws {
    try await gracefulShutdown()
    let patience = Patience(logger: logger)
    defer { patience.end() }
    await queue.drain(timeout: current.now.configuration.drainTimeout)
  }
}
