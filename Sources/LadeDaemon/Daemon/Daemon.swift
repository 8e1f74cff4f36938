import ControlAPI
import ControlServer
import Dispatch
import Foundation
public import Jobs
import Logging
import ServiceLifecycle
import Systemd
import WebPages

/// A daemon of one configuration.
///
/// A program that adds operations of its own is a daemon of its own, with this for its `main`:
///
/// ```swift
/// var operations = OperationCatalogue()
/// operations.add("move", MoveOperation.self)
/// try await Daemon(configurationPath: CommandLine.arguments[1], operations: operations).run()
/// ```
public struct Daemon: Sendable {
  /// How long a daemon without its lease may take to stop in order.
  private static let timeAfterLease: TimeInterval = 5

  private let loaded: LoadedConfiguration
  private let level: LiveLogLevel
  private let log = LogRing()
  /// Which operation does which kind of job.
  let operations: OperationCatalogue
  private let logger: Logger

  /// Reads the configuration.
  /// - Parameters:
  ///   - operations: those that the daemon knows beside its own, or in place of them.
  ///   - isOnlyChecked: whether it isn't to run: then credentials of the configuration may be out of reach.
  /// - Throws: ``DaemonError/configuration(_:)`` with every mistake in it.
  public init(
    configurationPath: String, operations: OperationCatalogue = OperationCatalogue(), isOnlyChecked: Bool = false
  ) throws {
    var all = OperationCatalogue.standard
    all.add(operations)
    self.operations = all
    do throws(ConfigurationProblems) {
      loaded = try LoadedConfiguration(
        path: configurationPath, environment: ProcessInfo.processInfo.environment, isOnlyChecked: isOnlyChecked)
    } catch {
      throw DaemonError.configuration("\(error)")
    }
    let level = LiveLogLevel(loaded.configuration.logLevel)
    self.level = level
    logger = Logger(label: "laded") { [log] label in
      let output: any LogHandler =
        JournalWriter.isJournalStream ? JournalLogHandler(label: label) : TextLogHandler(label: label)
      return LiveLogHandler(level, MultiplexLogHandler([output, RingLogHandler(log)]))
    }
  }

  private var configuration: DaemonConfiguration { loaded.configuration }

  /// Reads the models, and looks whether files could be imported by the recipes and the stores migrated. Makes nothing.
  /// - Throws: ``DaemonError`` with everything that is wrong.
  public func check() async throws {
    _ = try await examined { $0.migrationProblems() }
  }

  /// The configuration without the saved recipes that don't fit the models.
  /// - Parameter further: what else may be wrong.
  /// - Throws: ``DaemonError`` with everything that is wrong.
  private func examined(
    _ further: @escaping @Sendable (LoadedConfiguration) throws -> [ConfigurationProblem] = { _ in [] }
  ) async throws -> LoadedConfiguration {
    try await DispatchQueue(label: "laded.check").result { [loaded, operations] in
      var examined = loaded
      let problems = try examined.problems(operations) + further(examined)
      guard problems.isEmpty else {
        throw DaemonError.configuration(ConfigurationProblems(problems, layers: loaded.layers).description)
      }
      return examined
    }
  }

  /// Saved recipes that aren't used, and what in the models keeps records from being imported, or has no effect; with the places
  /// in the configuration.
  public func warnings() async throws -> [String] {
    try await DispatchQueue(label: "laded.check").result { [loaded, operations] in
      try loaded.warnings(operations).map(\.description)
    }
  }

  /// This version of Lade.
  public static var version: String { LadeVersion.current }

  /// Makes sure that the process may have the address space that a daemon needs. To be called before there is another thread:
  /// libraries wait without end for one that can't be made.
  /// - Throws: ``DaemonError/limits(_:)``.
  public static func checkAddressSpace() throws(DaemonError) {
    try ProcessLimits.ofThisProcess().checkAddressSpace()
  }

  /// Runs until SIGTERM or SIGINT, then stops running jobs and returns. A second signal ends the process immediately. A job
  /// that outlives `drain_timeout` runs until the process ends, with the stores open and locked.
  /// - Throws: ``DaemonError`` when it can't start, or what made it stop.
  public func run() async throws {
    do {
      try await work()
    } catch {
      let reason = "\(error)".split(separator: "\n").first.map(String.init) ?? "an error"
      do {
        try ServiceManager.notify(.status("failed: \(reason)"))
      } catch {
        logger.warning("\(error)")
      }
      throw error
    }
  }

  private func work() async throws {
    let startedAt = Date()
    Upkeep.limitHeaps()
    SignalService.ignoreOthers()
    // Files are made for the daemon and its group.
    umask(0o007)
    let limits = ProcessLimits.ofThisProcess()
    try limits.check(for: configuration)
    // Before anything is made, and before a store is migrated.
    let loaded = try await examined()
    for warning in try await warnings() { logger.warning("configuration: \(warning)") }
    let passed = try passedSockets()
    // Migrating stores can take long.
    let starting = TimeoutExtender(logger: logger)
    defer { starting.end() }
    let parts = try await DaemonParts(loaded, operations, level, log, limits, startedAt: startedAt, logger: logger)
    // After the locks: of two daemons on the same directories the second reports those, not the port.
    let metricsListeners = try listeners(passed.metrics, configuration.metrics.address, for: .metrics)
    var webListeners = try listeners(passed.web, configuration.web.address, for: .web)
    if passed.web.isEmpty { webListeners += try pageSocket() }
    try await parts.start()
    let control = ControlServer(
      backend: parts.backend, meter: parts.requests, address: SocketAddress(path: configuration.socket),
      passed: passed.control?.descriptor, logger: logger,
      onListening: {
        starting.end()
        await parts.status.ready()
      })
    let metrics = LoopbackServer(
      backend: parts.backend, meter: parts.requests, listeners: metricsListeners, token: configuration.metrics.token,
      logger: logger)
    let web = WebServer(
      backend: parts.backend, sessions: parts.backend.sessions, meter: parts.requests, listeners: webListeners,
      settings: configuration.web.settings, lookUp: PageUsers(controlSocket: configuration.socket).find, logger: logger)
    let services = ServiceGroup(services: parts.services(control, metrics, web), logger: logger)
    let listening = await listen(to: services, parts)
    defer { listening.cancel() }
    parts.lease.whenLost { [logger] in
      // Nothing that is left to do counts any more, and where the server can't be reached, each step of it would wait for that. As a
      // daemon that is killed, it leaves everything to its next start.
      DispatchQueue.global().asyncAfter(deadline: .now() + Self.timeAfterLease) {
        logger.error("laded ends amid its work: \(DaemonError.leaseLost)")
        _exit(DaemonError.leaseLost.exitStatus)
      }
      Task {
        await parts.reloader.stop()
        await services.triggerGracefulShutdown()
      }
    }
    logger.notice(
      "laded \(LadeVersion.current) starts",
      metadata: JournalMessage.daemonStarted.metadata(["spool": "\(configuration.spool)", "pid": "\(getpid())"]))
    do {
      try await services.run()
    } catch let error as ControlSocketError {
      throw DaemonError(error)
    }
    let closing = TimeoutExtender(logger: logger)
    defer { closing.end() }
    try await parts.close()
    if parts.lease.isLost { throw DaemonError.leaseLost }
    logger.notice("laded has stopped", metadata: JournalMessage.daemonStopped.metadata())
    // The locks are held until here, at least.
    withExtendedLifetime(parts) {}
  }

  /// Handles signals. Called before the service manager learns that the daemon is up, because it may then ask for a reload.
  private func listen(to services: ServiceGroup, _ parts: DaemonParts) async -> Task<Void, Never> {
    let signals = SignalService(
      logger: logger,
      stop: {
        await parts.reloader.stop()
        await services.triggerGracefulShutdown()
      }, dump: { [logger] in await parts.backend.dump(to: logger) },
      reload: {
        // The reloader reports what is wrong itself.
        _ = await Task { try await parts.reloader.reload() }.result
      })
    let trapped = await SignalService.trapped()
    return Task { await signals.listen(to: trapped) }
  }

  /// The sockets that the service manager made.
  private func passedSockets() throws -> PassedSockets {
    do {
      return try PassedSockets.ofThisProcess()
    } catch {
      throw DaemonError.socket(path: configuration.socket, reason: "\(error)", cause: .unusable)
    }
  }

  /// The Unix socket of the pages, if there is to be one.
  private func pageSocket() throws -> [LoopbackListener] {
    do {
      return try configuration.web.socket.map { [try LoopbackListener(at: $0)] } ?? []
    } catch let error as ControlSocketError {
      throw DaemonError(pages: error)
    }
  }

  /// Where clients connect on TCP: to what was passed, else as the configuration says.
  private func listeners(
    _ passed: [ActivatedSocket], _ address: LoopbackAddress?, for purpose: LoopbackPurpose
  ) throws -> [LoopbackListener] {
    if !passed.isEmpty { return passed.map { LoopbackListener(passed: $0.descriptor) } }
    do throws(LoopbackError) {
      return try address.map { address throws(LoopbackError) in
        [try LoopbackListener(at: address, for: purpose)]
      } ?? []
    } catch {
      throw DaemonError(error)
    }
  }
}
