import ControlAPI
import Jobs
import Logging
import ServiceLifecycle
import Spool
import Synchronization
import Systemd

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

/// Puts files away whose jobs were ended by other daemons that share the queue.
struct SharedFilesService: Service {
  private static let interval = Duration.seconds(15)

  let bridge: SpoolBridge
  let queue: JobQueue
  let logger: Logger

  func run() async throws {
    guard queue.host != nil else { return try await gracefulShutdown() }
    await cancelWhenGracefulShutdown {
      while (try? await Task.sleep(for: Self.interval)) != nil {
        do {
          try await bridge.settleActive()
        } catch {
          logger.warning("the files of jobs that others have ended can't be put away", metadata: ["error": "\(error)"])
        }
      }
    }
  }
}

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
