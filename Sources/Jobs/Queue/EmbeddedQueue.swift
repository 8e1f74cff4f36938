public import Foundation
import Importing
public import Logging
public import ManagedObjects

/// A queue of jobs in your own program: the daemon's queue without its spool and its socket. Safe from any thread.
///
/// It knows the operations of ``OperationCatalogue/standard`` and those that the program adds. Jobs are kept in the queue's own
/// store and outlive the program: a job that ran when the program was killed runs again after the next start, and waiting
/// jobs wait on.
///
/// ```swift
/// let model = try EmbeddedQueue.dataModel(companyModel)
/// let data = PersistentStoreCoordinator(model: model)
/// try data.addPersistentStore(.sqlite(at: folder.appendingPathComponent("company.sqlite")))
/// var operations = OperationCatalogue.standard
/// operations.add("move", MoveOperation.self)
/// let queue = try EmbeddedQueue(
///   store: .sqlite(at: folder.appendingPathComponent("queue.sqlite"), options: .init(durability: .everySave)),
///   dataStores: ["main": data], operations: operations, directory: folder)
/// try await queue.start()
/// let job = try await queue.submit("move", store: "main", options: ["to": "Ockham"])
/// print(try await queue.end(of: job.id).state)
/// ```
///
/// The main queue must run (`dispatchMain()`, an async `main`), because the queue answers from there. Its errors have readable
/// descriptions.
public final class EmbeddedQueue: Sendable {
  private let coordinator: PersistentStoreCoordinator
  private let queue: JobQueue
  /// The queue refers to it weakly.
  private let delegate: CheckpointRemover

  /// A queue that doesn't run jobs before ``start()``.
  /// - Parameters:
  ///   - store: where jobs are kept. To survive a loss of power it needs the durability of every save.
  ///   - dataStores: the stores that operations work on, by the names that jobs use.
  ///   - operations: which operation does which kind of job.
  ///   - lanes: how many jobs of each lane run at a time.
  ///   - directory: a folder of the program's, for the files of operations: inputs in `active`, `rejects`, `exports`. Made
  ///     if it isn't there.
  /// - Throws: the store's error, or what is wrong with the lanes.
  public init(
    store: PersistentStoreDescription, dataStores: [String: PersistentStoreCoordinator],
    operations: OperationCatalogue = .standard, lanes: [String: Int] = ["import": 1, "maintenance": 1],
    directory: URL, logger: Logger = Logger(label: "jobs")
  ) throws {
    coordinator = PersistentStoreCoordinator(model: QueueModel.model)
    let identifier = try coordinator.addPersistentStore(store).identifier
    let active = directory.appendingPathComponent("active")
    let rejects = directory.appendingPathComponent("rejects")
    for folder in [active, rejects] {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    let environment = JobEnvironment(
      dataStores: dataStores, activeDirectory: active, rejectsDirectory: rejects,
      exportsDirectory: directory.appendingPathComponent("exports"), queueIdentifier: identifier, logger: logger)
    delegate = CheckpointRemover(dataStores: dataStores, queueIdentifier: identifier)
    queue = try JobQueue(
      coordinator: coordinator, lanes: lanes.map { LaneConfiguration(name: $0.key, concurrency: $0.value) },
      operations: operations, environment: environment, logger: logger)
    queue.delegate = delegate
  }

  /// A model with what operations keep in a data store beside its objects: how far each job has come, so that it is saved
  /// with what the job did. `import`, `prune` and `update` need it.
  /// - Throws: what is wrong with the model.
  public static func dataModel(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
    try ImportModel.adding(to: model)
  }

  /// Rescues the jobs that an earlier process left running, and begins to run jobs.
  public func start() async throws { try await queue.start() }

  /// Takes a job in. It is in the queue's store when this returns.
  /// - Parameters:
  ///   - kind: one of the catalogue's.
  ///   - store: the data store that it works on, by its name.
  ///   - entity: the entity that it works on.
  ///   - options: the operation's own options, which must encode to a JSON object. See
  ///     ``Job/decodeOptions(as:)``.
  ///   - lane: one of the queue's.
  ///   - priority: higher runs earlier.
  ///   - notBefore: it doesn't run earlier.
  ///   - uniqueKey: of the jobs with one key only one is in the queue at a time: a second submission answers with that one.
  ///   - maxAttempts: how often it is tried in all.
  ///   - who: who hands it in.
  public func submit<Options: Encodable>(
    _ kind: String, store: String? = nil, entity: String? = nil, options: Options = [String: String](),
    lane: String = "maintenance", priority: Int = 0, notBefore: Date? = nil, uniqueKey: String? = nil,
    maxAttempts: Int = 5, by who: String = "program"
  ) async throws -> Job {
    var submission = JobSubmission(
      kind: kind, store: store, entity: entity, lane: lane, priority: priority, notBefore: notBefore,
      uniqueKey: uniqueKey, maxAttempts: maxAttempts, submittedBy: who)
    let json = String(decoding: try JSONEncoder().encode(options), as: UTF8.self)
    guard json.hasPrefix("{") else {
      throw JobQueueError.invalidSubmission(
        "its options are \(json.prefix(100)), and have to be a JSON object: pass a dictionary or a struct")
    }
    submission.resolvedOptions = json
    return try await queue.submit(submission)
  }

  /// A job as it stands; one that runs, with how far it is.
  public func job(_ id: Int64) async throws -> Job { try await queue.job(id, withTransitions: true) }

  /// Waits until a job has ended: `completed`, `cancelled` or `discarded`.
  public func end(of id: Int64) async throws -> Job { try await queue.whenEnded(id) }

  /// Stops a job; one that runs stops at its next batch.
  public func cancel(_ id: Int64, by who: String = "program") async throws -> Job {
    try await queue.cancel(id, by: who)
  }

  /// Every transition of jobs, and all progress, from now on; ends when the queue has been stopped.
  public func events() -> AsyncStream<Job> { queue.events() }

  /// Stops running jobs at their next batch, to continue after the next start, and closes the queue's store.
  /// - Returns: the jobs that still ran when the time was over. The store stays open then.
  public func stop(timeout: Duration = .seconds(30)) async throws -> [Job] {
    let left = await queue.drain(timeout: timeout)
    if left.isEmpty { try coordinator.close() }
    return left
  }
}

/// Removes what a job keeps in its data store, once the queue knows of its end.
private final class CheckpointRemover: JobQueueDelegate {
  private let dataStores: [String: PersistentStoreCoordinator]
  private let queueIdentifier: String

  init(dataStores: [String: PersistentStoreCoordinator], queueIdentifier: String) {
    self.dataStores = dataStores
    self.queueIdentifier = queueIdentifier
  }

  func jobQueue(_ queue: JobQueue, didEnd job: Job) async throws {
    guard JobCheckpoint.kinds.contains(job.kind), let data = dataStores[job.store ?? ""] else { return }
    try JobCheckpoint.forget(job, queue: queueIdentifier, in: data)
  }
}
