// What a daemon is made of, in the order in which the parts are made:
//
//   OpenStores ─▶ JobQueue ─▶ SpoolBridge ─▶ SpoolIntake ─▶ DaemonBackend
//
//   incoming/ ─▶ SpoolIntake ─▶ SpoolBridge ─▶ JobQueue ─▶ operations ─▶ data stores
//   control.sock ─▶ ControlServer ─▶ DaemonBackend ─▶ the same queue and stores
//
// Each part refers only to those made before it. One call goes the other way: the queue calls its delegate
// (`DaemonJobEvents`), to which it refers weakly.
//
// The daemon stops in the opposite order: the intake takes nothing more, running jobs end at their next batch, and the
// control socket answers until they have.

import ControlServer
import Dispatch
import Foundation
import Jobs
import Logging
import ManagedObjects
import PostgresSource
import SQLiteStore
import ServiceLifecycle
import Spool

/// The parts of a running daemon.
final class DaemonParts: Sendable {
  let backend: DaemonBackend
  let reloader: Reloader
  let status: StatusService
  let requests: RequestMeter
  let lease = LeaseLoss()
  private let upkeep: Upkeep
  private let freshness: FreshnessMonitor
  private let open: OpenStores
  private let queue: JobQueue
  private let events: DaemonJobEvents
  private let bridge: SpoolBridge
  private let intake: SpoolIntake
  private let logger: Logger

  /// Opens the stores and makes the parts. Nothing runs yet.
  /// - Throws: ``DaemonError``.
  init(
    _ loaded: LoadedConfiguration, _ operations: OperationCatalogue, _ level: LiveLogLevel, _ log: LogRing,
    _ limits: ProcessLimits, startedAt: Date, logger: Logger
  ) async throws {
    let configuration = loaded.configuration
    requests = RequestMeter(limits: limits.connectionLimits(for: configuration))
    let open = try await DispatchQueue(label: "laded.start").result { try OpenStores(configuration, logger) }
    let current = CurrentConfiguration(
      .init(SubmissionPlan(configuration: configuration, stores: open.stores, operations: operations)))
    let queue = try Self.makeQueue(open, current, operations, logger)
    let uploads = UserUploads(configuration.uploads, logger: logger)
    let bridge = SpoolBridge(
      directories: open.directories, current: current, queue: queue, queueIdentifier: open.queue.identifier,
      uploads: uploads, startedAt: startedAt, logger: logger)
    upkeep = Upkeep(
      queue: queue, stores: open.stores, queueCoordinator: open.queue.coordinator, current: current, logger: logger)
    let freshness = FreshnessMonitor(current: current, queue: queue, logger: logger)
    self.freshness = freshness
    let events = DaemonJobEvents(
      upkeep: upkeep, freshness: freshness, bridge: bridge,
      files: ScheduledFiles(current: current, directories: open.directories, queue: queue),
      stores: open.stores, operations: operations, lease: lease, rejects: configuration.rejects, startedAt: startedAt)
    queue.delegate = events
    let intake = SpoolIntake(
      directories: open.directories, settings: try configuration.spoolSettings(), delegate: bridge, logger: logger)
    status = StatusService(queue: queue, logger: logger)
    reloader = Reloader(
      loaded, current, queue: queue, intake: intake, level: level, status: status, freshness: freshness,
      logger: logger)
    backend = DaemonBackend(
      current: current, loaded: loaded, reloader: reloader, service: status, queue: queue,
      queueIdentifier: open.queue.identifier, stores: open.stores,
      directories: open.directories, intake: intake, freshness: freshness,
      meters: Meters(
        log: log, ended: events.ended, history: events.history, mainQueue: MainQueueMeter(queue: queue),
        jobs: events.jobs,
        mainContexts: MainContexts(stores: open.stores, queue: StoreMainContext(queue.mainContext)),
        health: HealthProbe(LivenessProbe(queue)), kept: KeptFilesMeter(open.directories),
        sizes: Self.sizes(of: open, configuration), disks: DiskMeter(configuration),
        sources: MetricSources(logger: logger)), standing: events.standing,
      lateHandOvers: LateHandOvers(queue: queue, logger: logger), uploads: uploads,
      readiness: Readiness(of: intake), sessions: WebSessions(), startedAt: startedAt)
    (self.open, self.queue, self.events, self.bridge, self.intake, self.logger) = (
      open, queue, events, bridge, intake, logger
    )
  }

  /// Finishes what an earlier process left undone, and begins to run jobs.
  func start() async throws {
    try await QueueStore.underHostName { try await queue.takeHost() }
    try await intake.openHotFolders()
    try await intake.synchroniseMoves()
    try await bridge.recover()
    try await QueueStore.underHostName { try await queue.start() }
    try await bridge.discardTakenOver()
  }

  /// Everything that runs until the daemon stops, in the order in which it starts.
  func services(_ servers: any Service...) -> [any Service] {
    [WatchdogService(queue: queue, logger: logger)] + servers + [
      QueueService(queue: queue, current: backend.current, logger: logger), SpoolService(intake: intake), status,
      SharedFilesService(bridge: bridge, queue: queue, logger: logger),
      FileRetentionService(directories: open.directories, current: backend.current, logger: logger),
      HistoryService(ring: backend.meters.history, queue: queue, jobs: backend.meters.jobs),
      backend.meters.mainQueue, upkeep, freshness, backend.readiness,
    ]
  }

  /// Closes the stores, after all services have ended. An operation that outlived `drain_timeout`, or a file that is still
  /// being put away, keeps stores and locks until the process ends: a commit succeeds or doesn't happen, as before a kill,
  /// and no other daemon begins before.
  func close() async throws {
    guard queue.isQuiet else {
      _ = Unmanaged.passRetained(self)
      return
    }
    await queue.leave()
    try await DispatchQueue(label: "laded.stop").result { [open] in try open.close() }
  }

  private static func sizes(of open: OpenStores, _ configuration: DaemonConfiguration) -> StoreSizesMeter {
    StoreSizesMeter { [stores = open.stores, queue = open.queue] in
      let sizes = stores.all.compactMap { store in
        store.sizes.map { (store: store.configuration.name, sizes: $0) }
      }
      return sizes
        + (queue.sizes(configuration).map { [(store: MainContexts.queueStoreName, sizes: $0)] } ?? [])
    }
  }

  private static func makeQueue(
    _ open: OpenStores, _ current: CurrentConfiguration, _ operations: OperationCatalogue, _ logger: Logger
  ) throws -> JobQueue {
    let (configuration, stores) = (current.now.configuration, open.stores)
    var environment = JobEnvironment(
      dataStores: stores.coordinators,
      activeDirectory: URL(fileURLWithPath: configuration.spool).appendingPathComponent("active"),
      rejectsDirectory: URL(fileURLWithPath: configuration.rejects),
      exportsDirectory: URL(fileURLWithPath: configuration.exports), queueIdentifier: open.queue.identifier,
      logger: logger)
    environment.presentStores = { stores.coordinators }
    environment.upkeep = StoreUpkeep.of(current, stores, logger)
    environment.niceness = 5
    environment.openPostgres = PostgresSnapshot.open
    environment.extractsDirectory = URL(fileURLWithPath: configuration.extracts)
    if let credentials = configuration.credentials { environment.credentials = credentials }
    environment.exportPause = { current.now.configuration.queries.exports }
    environment.keepsBeforeImages = { current.now.configuration.keep.undo != nil }
    if let queue = configuration.queue { environment.shareFiles(upTo: queue.fileLimit, open.directories, current) }
    environment.reportsDirectory = URL(fileURLWithPath: configuration.reports)
    let schedules = try current.now.plan.schedules()
    do {
      return try JobQueue(
        coordinator: open.queue.coordinator, lanes: configuration.lanes,
        operations: operations, environment: environment, retention: JobRetention(configuration.keep),
        schedules: schedules, watchedRecipes: configuration.watchedRecipes, membership: open.queue.membership,
        files: open.queue.files, backoff: Backoff(configuration.retry), logger: logger)
    } catch {
      // Nothing but the configured lanes can be wrong yet.
      throw DaemonError.configuration("\(error)")
    }
  }
}

/// What follows, in a daemon, from what happens to jobs.
final class DaemonJobEvents: JobQueueDelegate {
  let ended: EndedJobs
  let history: HistoryRing
  let jobs: JobMeter
  let standing = StandingQueries()
  private let upkeep: Upkeep
  private let freshness: FreshnessMonitor
  private let bridge: SpoolBridge
  private let files: ScheduledFiles
  private let stores: DataStores
  private let operations: OperationCatalogue
  private let lease: LeaseLoss
  private let rejects: String

  init(
    upkeep: Upkeep, freshness: FreshnessMonitor, bridge: SpoolBridge, files: ScheduledFiles, stores: DataStores,
    operations: OperationCatalogue, lease: LeaseLoss, rejects: String, startedAt: Date
  ) {
    self.lease = lease
    self.upkeep = upkeep
    self.freshness = freshness
    self.bridge = bridge
    self.files = files
    self.stores = stores
    self.operations = operations
    self.rejects = rejects
    ended = EndedJobs(since: startedAt)
    history = HistoryRing(since: startedAt)
    jobs = JobMeter(kinds: operations.kinds)
  }

  func jobQueue(_ queue: JobQueue, didEnd job: Job) async throws {
    ended.note(job)
    upkeep.noteWork()
    freshness.note(job)
    // An import may have replaced the store, too, whose model has evolved.
    if let store = job.store, stores.takeReplacement(of: store) || operations.replacesContent(job.kind) {
      standing.end(of: store)
      await stores[store]?.main.reset()
    }
    try await bridge.finished(job)
  }

  func jobQueue(_ queue: JobQueue, willRetry job: Job) async throws { try await bridge.revive(job) }

  func jobQueue(_ queue: JobQueue, didRemove job: Job) async throws {
    try await bridge.removed(job, rejects: rejects)
  }

  func jobQueue(_ queue: JobQueue, fetchFileOf job: Job, for schedule: String) async throws {
    try await files.fetch(job, of: schedule)
  }

  func jobQueue(_ queue: JobQueue, didMove job: Job, from former: JobState?) {
    jobs.note(job, from: former)
    if former?.isEnded != true, job.state.isEnded { history.note(job) }
  }

  func jobQueue(_ queue: JobQueue, didReport progress: JobProgress, of job: Job) {
    jobs.note(progress, of: job)
  }

  func jobQueueDidLoseLease(_ queue: JobQueue) { lease.note() }
}

extension DispatchQueue {
  /// Runs `body`, which may block, on this queue and awaits its result.
  func result<Value: Sendable>(of body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      async { continuation.resume(with: Result { try body() }) }
    }
  }
}

/// The daemon's measurements of itself.
struct Meters: Sendable {
  let log: LogRing
  let ended: EndedJobs
  let history: HistoryRing
  let mainQueue: MainQueueMeter
  let jobs: JobMeter
  let mainContexts: MainContexts
  let health: HealthProbe
  let kept: KeptFilesMeter
  let sizes: StoreSizesMeter
  let disks: DiskMeter
  let sources: MetricSources
}
