import Foundation
import Logging
import ManagedObjects
import PostgresStore
import TestSupport

@testable import Jobs

/// A daemon of a shared queue, as far as the queue goes.
final class QueueMember: Sendable {
  /// How the server is reached.
  enum Way: CaseIterable, Sendable {
    case direct, pooled

    static var present: [Self] { TransactionPooler.program == nil ? [.direct] : allCases }

    func options(_ server: PostgresCluster) throws -> (address: String, PostgresStoreOptions) {
      switch self {
      // Where all tests go through a pooler, what they listen to goes past it.
      case .direct: (server.address(), PostgresStoreOptions(direct: server.direct()))
      // Where nothing is heard.
      case .pooled: (try server.pooler().address(), PostgresStoreOptions())
      }
    }
  }

  struct Settings: Sendable {
    var host = "here"
    var folder: String?
    var way = Way.direct
    /// A lease isn't lost because the tests have little time.
    var timing = QueueMembership.Timing(lease: 600)
    var lanes: [LaneConfiguration] = [.init(name: "import", concurrency: 2)]
    var schedules: [JobSchedule] = []
    var retention = JobRetention()
    var isStarted = true
    var takesSharedEntries = false
    /// Keeps the statements that it sends.
    var statements: LogRecord?
    var delegate = TestDelegate()
    /// What a job of the kind `alone` does, which has its store to itself.
    var alone: ScriptedOperation.Script = { _ in .completed(JobProgress()) }
  }

  let queue: JobQueue
  let coordinator: PersistentStoreCoordinator
  private let delegate: TestDelegate
  private let folder: ScratchDirectory

  /// - Parameters:
  ///   - server: where the queue is; nil for the one that tests share.
  ///   - work: what a job of the kind `work` does.
  init(
    _ schema: String, _ settings: Settings = Settings(), on server: PostgresCluster? = nil,
    _ work: @escaping ScriptedOperation.Script = passing()
  ) async throws {
    folder = try ScratchDirectory()
    delegate = settings.delegate
    coordinator = PersistentStoreCoordinator(model: QueueModel.model)
    var (address, options) = try settings.way.options(server ?? .shared())
    options.announcesCommits = false
    options.sqlLog = settings.statements == nil ? .off : .statements
    let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    var description = PersistentStoreDescription.postgres(
      address, schema: schema, options: options, sqlLogger: settings.statements?.logger ?? quiet)
    // A lock isn't given up because the tests have little time.
    description.timeout = 600
    try coordinator.addPersistentStore(description)
    var catalogue = OperationCatalogue()
    catalogue.add("work") { ScriptedOperation(job: $0, environment: $1, script: work) }
    catalogue.add("alone", access: .exclusive) {
      ScriptedOperation(job: $0, environment: $1, script: settings.alone)
    }
    queue = try JobQueue(
      coordinator: coordinator, lanes: settings.lanes, operations: catalogue,
      environment: JobEnvironment(
        dataStores: [:], activeDirectory: folder.url, rejectsDirectory: folder.url, logger: quiet),
      retention: settings.retention, schedules: settings.schedules,
      membership: try QueueMembership(
        in: coordinator, as: .init(host: settings.host, folder: settings.folder, version: "1"), timing: settings.timing,
        takesSharedEntries: settings.takesSharedEntries),
      logger: quiet)
    queue.delegate = delegate
    if settings.isStarted { try await queue.start() }
  }

  /// Has it look at what the others have done, and waits for that.
  @discardableResult
  func poll() async -> QueuePoll {
    await queue.ledger.queue.perform { _ in self.queue.poll() }
  }

  /// Stops it, as a daemon does.
  func stop() async throws -> [Job] {
    let left = await queue.drain(timeout: .seconds(60))
    await queue.leave()
    try coordinator.close()
    return left
  }
}
