import ServiceLifecycle
import Spool

/// Watches the spool until the daemon stops; then the entry in hand is finished and no other is taken.
struct SpoolService: Service {
  let intake: SpoolIntake

  func run() async throws {
    try await cancelWhenGracefulShutdown { try await intake.run() }
  }
}
