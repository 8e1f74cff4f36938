import Jobs
import ServiceLifecycle

/// Runs jobs until the daemon stops; then running ones end at their next batch and go on after the next start.
struct QueueService: Service {
  let queue: JobQueue
  let drainTimeout: Duration

  func run() async throws {
    try await gracefulShutdown()
    await queue.drain(timeout: drainTimeout)
  }
}
