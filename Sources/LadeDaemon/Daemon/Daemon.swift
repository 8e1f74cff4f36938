// The daemon, put together:
//
//   incoming/ ─▶ SpoolIntake ─▶ SpoolBridge ─▶ JobQueue ─▶ ImportOperation ─▶ data stores
//   control.sock ─▶ ControlServer ─▶ DaemonBackend ─▶ the same queue and stores
//
// It stops in the opposite order: the intake takes nothing more, running jobs end at their next batch, and the control
// socket answers until they have.

import ControlAPI
import ControlServer
import Foundation
public import Jobs
import Logging
import ManagedObjects
import SQLiteStore
import ServiceLifecycle
import Spool
import Synchronization
import Systemd

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

  /// Reads the models, and looks whether files could be imported by the recipes. Makes nothing.
  /// - Throws: ``DaemonError`` with everything that is wrong.
  public func check() async throws {
    let problems = try await blocking { [loaded, operations] in try loaded.problems(operations) }
    guard !problems.isEmpty else { return }
    throw DaemonError.configuration(ConfigurationProblems(problems, layers: loaded.layers).description)
  }

  /// This version of Lade.
  public static var version: String { LadeVersion.current }

  /// Works until SIGTERM or SIGINT, then ends what is running and returns. A second one ends the process at once.
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
    SignalService.ignoreOthers()
    // Files are made for the daemon and its group.
    umask(0o007)
    // Before anything is made, and before a store is migrated.
    try await check()
    let passed = try passedSockets()
    // Stores that are to be migrated can take long.
    let starting = Patience(logger: logger)
    defer { starting.end() }
    let opened = try await blocking { try Opened(configuration, logger) }
    let holder = QueueHolder()
    let current = CurrentConfiguration(
      .init(SubmissionPlan(configuration: configuration, stores: opened.stores, operations: operations)))
    let bridge = SpoolBridge(
      directories: opened.directories, current: current, queue: { holder.queue },
      queueIdentifier: opened.queueIdentifier, startedAt: startedAt, logger: logger)
    let ended = EndedJobs(since: startedAt)
    let jobs = JobMeter(kinds: operations.kinds)
    let metricsListeners = try listeners(passed)
    let standing = StandingQueries()
    let files = ScheduledFiles(
      current: current, directories: opened.directories, queue: { holder.queue })
    let queue = try makeQueue(opened, current, bridge, files, jobs) { job in
      ended.note(job)
      guard operations.replacesContent(job.kind), let store = job.store else { return }
      standing.end(of: store)
      try await opened.stores[store]?.main.reset()
    }
    holder.set(queue)
    let intake = SpoolIntake(
      directories: opened.directories, settings: try configuration.spoolSettings(), delegate: bridge, logger: logger)
    try await intake.openHotFolders()
    try await intake.synchroniseMoves()
    try await bridge.recover()
    try await queue.start()
    let status = StatusService(queue: queue, logger: logger)
    let reloader = Reloader(
      loaded, current, stores: opened.stores, queue: queue, intake: intake, level: level, status: status,
      logger: logger)
    let backend = DaemonBackend(
      current: current, loaded: loaded, reloader: reloader, queue: queue, stores: opened.stores,
      directories: opened.directories, intake: intake,
      meters: Meters(
        log: log, ended: ended, mainQueue: MainQueueMeter(queue: queue), jobs: jobs,
        mainContexts: MainContexts(stores: opened.stores, queue: StoreMainContext(queue.mainContext)),
        health: HealthProbe(Rounds(queue))), standing: standing, readiness: Readiness(of: intake), startedAt: startedAt)
    let requests = RequestMeter()
    let control = ControlServer(
      backend: backend, meter: requests, address: SocketAddress(path: configuration.socket),
      passed: passed.control?.descriptor, logger: logger,
      onListening: {
        starting.end()
        await status.ready()
      })
    let services = ServiceGroup(
      services: [
        WatchdogService(queue: queue, logger: logger), control,
        MetricsServer(
          backend: backend, meter: requests, listeners: metricsListeners, token: configuration.metrics.token,
          logger: logger),
        QueueService(queue: queue, current: current, logger: logger),
        SpoolService(intake: intake), status, backend.meters.mainQueue, backend.readiness,
      ], logger: logger)
    let signals = SignalService(
      logger: logger,
      stop: {
        await reloader.stop()
        await services.triggerGracefulShutdown()
      }, dump: { await backend.dump(to: logger) },
      reload: {
        // It says itself what is wrong.
        _ = await Task { try await reloader.reload() }.result
      })
    // Before the service manager hears that the daemon is up: it may ask for a reload at once.
    let trapped = await SignalService.trapped()
    let listening = Task { await signals.listen(to: trapped) }
    defer { listening.cancel() }
    logger.notice(
      "laded \(LadeVersion.current) starts",
      metadata: JournalMessage.daemonStarted.metadata(["spool": "\(configuration.spool)", "pid": "\(getpid())"]))
    do {
      try await services.run()
    } catch let error as ControlSocketError {
      throw DaemonError(error)
    }
    let closing = Patience(logger: logger)
    defer { closing.end() }
    try await blocking { try opened.close() }
    logger.notice("laded has stopped", metadata: JournalMessage.daemonStopped.metadata())
    withExtendedLifetime(opened.locks) {}
  }

  /// The sockets that the service manager made.
  private func passedSockets() throws -> PassedSockets {
    do {
      return try PassedSockets.ofThisProcess()
    } catch {
      throw DaemonError.socket(path: configuration.socket, reason: "\(error)")
    }
  }

  /// Where metrics are asked for on TCP: on what was passed, else as the configuration says.
  private func listeners(_ passed: PassedSockets) throws -> [MetricsListener] {
    if !passed.metrics.isEmpty { return passed.metrics.map { MetricsListener(passed: $0.descriptor) } }
    do throws(MetricsSocketError) {
      return try configuration.metrics.address.map { address throws(MetricsSocketError) in
        [try MetricsListener(at: address)]
      } ?? []
    } catch {
      throw DaemonError.metrics(reason: "\(error)")
    }
  }

  private func makeQueue(
    _ opened: Opened, _ current: CurrentConfiguration, _ bridge: SpoolBridge, _ files: ScheduledFiles,
    _ jobs: JobMeter, ended: @escaping @Sendable (JobSnapshot) async throws -> Void
  ) throws -> JobQueue {
    let stores = opened.stores
    var environment = JobEnvironment(
      dataStores: stores.coordinators,
      activeDirectory: URL(fileURLWithPath: configuration.spool).appendingPathComponent("active"),
      rejectsDirectory: URL(fileURLWithPath: configuration.rejects),
      exportsDirectory: URL(fileURLWithPath: configuration.exports), queueIdentifier: opened.queueIdentifier,
      logger: logger)
    environment.presentStores = { stores.coordinators }
    environment.upkeep = StoreUpkeep.of(current, stores, logger)
    environment.reportsDirectory = URL(fileURLWithPath: configuration.reports)
    let schedules = try current.now.plan.schedules()
    do {
      return try JobQueue(
        coordinator: opened.queueCoordinator,
        lanes: configuration.lanes.map(Jobs.LaneConfiguration.init),
        operations: operations, environment: environment,
        hooks: JobQueue.Hooks(
          finished: { job in
            try await ended(job)
            try await bridge.finished(job)
          }, revive: { try await bridge.revive($0) },
          removed: { [rejects = configuration.rejects] in try await bridge.removed($0, rejects: rejects) },
          fetch: { try await files.fetch($0, of: $1) }, moved: { jobs.note($0, from: $1) },
          progressed: { jobs.note($1, of: $0) }),
        retention: JobRetention(configuration.keep), schedules: schedules, backoff: Backoff(configuration.retry),
        logger: logger)
    } catch {
      throw DaemonError.queue(path: configuration.queueStore, reason: "\(error)")
    }
  }

  private func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "laded.start").async { continuation.resume(with: Result { try body() }) }
    }
  }
}

/// The queue, for what is made before it and used after.
private final class QueueHolder: Sendable {
  private let value = Mutex<JobQueue?>(nil)

  var queue: JobQueue {
    guard let queue = value.withLock({ $0 }) else { preconditionFailure("the queue is made before anything is taken") }
    return queue
  }

  func set(_ queue: JobQueue) { value.withLock { $0 = queue } }
}
