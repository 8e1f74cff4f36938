import ControlAPI
import ServiceLifecycle
import Spool
import Synchronization

/// Says whether the daemon takes work in. As a service it is to be the one that hears first of a shutdown: the last of its
/// group.
final class Readiness: Service {
  private let intake: SpoolIntake
  private let isStopping = Atomic<Bool>(false)

  init(of intake: SpoolIntake) { self.intake = intake }

  func run() async throws {
    try await gracefulShutdown()
    isStopping.store(true, ordering: .relaxed)
  }

  /// How it is now. Waits for nothing.
  var now: Health {
    Health(version: LadeVersion.current, checks: ["laded": daemon, "the spool": Self.check(intake.status)])
  }

  private var daemon: Health.Check {
    guard isStopping.load(ordering: .relaxed) else { return .init(.pass) }
    return .init(.fail, "it is stopping: nothing more is taken in, and what runs comes to the end of a batch")
  }

  static func check(_ spool: SpoolStatus) -> Health.Check {
    if let obstacle = spool.obstacle { return .init(.fail, obstacle) }
    // It is looked through all the same, now and then.
    if let trouble = spool.eventTrouble { return .init(.warn, "what comes is found late: \(trouble)") }
    return .init(.pass)
  }
}
