import Foundation
import Logging
import ManagedObjects
import SQLiteStore
import Testing

@testable import Jobs

/// The stores that a queue can stand on; every test of the queue runs on each.
enum StoreKind: String, CaseIterable, Sendable {
  case inMemory, sqlite

  func description(in directory: URL) -> PersistentStoreDescription {
    switch self {
    case .inMemory: return .inMemory()
    case .sqlite:
      return .sqlite(
        at: directory.appendingPathComponent("queue.sqlite"), options: .init(durability: .everySave, readers: 2))
    }
  }
}

/// An operation that does what its test says.
final class ScriptedOperation: JobOperation, @unchecked Sendable {
  // Sendable: the script is constant.
  typealias Script = @Sendable (ScriptedOperation) throws -> JobOutcome
  private let script: Script

  init(job: Job, environment: JobEnvironment, script: @escaping Script) {
    self.script = script
    super.init(job: job, environment: environment)
  }

  required init(job: Job, environment: JobEnvironment) {
    script = { _ in .completed(JobProgress()) }
    super.init(job: job, environment: environment)
  }

  override func perform() throws -> JobOutcome { try script(self) }
}

/// What a test's operation does: nothing, or waiting at a gate first.
func passing(_ gate: Gate? = nil) -> ScriptedOperation.Script {
  { _ in
    gate?.pass()
    return .completed(JobProgress())
  }
}

/// The store and the clock of a queue, which outlive it as they do a daemon.
final class TestHouse: Sendable {
  let directory: URL
  let coordinator: PersistentStoreCoordinator
  let clock = ManualClock()
  let faults = FailingStore.Faults()
  /// The house whose directory it is.
  private let original: TestHouse?

  init(_ kind: StoreKind) throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("lade-jobs-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    original = nil
    coordinator = PersistentStoreCoordinator(model: QueueModel.model)
    try coordinator.addPersistentStore(kind.description(in: directory).failing(faults))
  }

  /// The same file, reopened: the other's store is closed.
  init(reopening other: TestHouse) throws {
    try other.coordinator.close()
    directory = other.directory
    original = other
    coordinator = PersistentStoreCoordinator(model: QueueModel.model)
    try coordinator.addPersistentStore(StoreKind.sqlite.description(in: directory).failing(faults))
  }

  deinit {
    guard original == nil else { return }
    do {
      try FileManager.default.removeItem(at: directory)
    } catch {
      Issue.record("\(directory.path) is left: \(error)")
    }
  }

  /// A queue of this house, not started. `kinds` are what its operations do.
  func queue(
    _ kinds: [String: ScriptedOperation.Script] = [:],
    exclusive: [String: ScriptedOperation.Script] = [:],
    lanes: [LaneConfiguration] = [.init(name: "import", concurrency: 1)], delegate: TestDelegate = TestDelegate(),
    retention: JobRetention = .init(), schedules: [JobSchedule] = [],
    watchedRecipes: Set<String> = [], niceness: Int32 = 0,
    logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  ) throws -> JobQueue {
    var catalogue = OperationCatalogue()
    catalogue.add("noop", ScriptedOperation.self)
    for (kind, script) in kinds {
      catalogue.add(kind) { ScriptedOperation(job: $0, environment: $1, script: script) }
    }
    for (kind, script) in exclusive {
      catalogue.add(kind, access: .exclusive) { ScriptedOperation(job: $0, environment: $1, script: script) }
    }
    var environment = JobEnvironment(
      dataStores: [:], activeDirectory: directory, rejectsDirectory: directory, logger: logger)
    environment.niceness = niceness
    let queue = try JobQueue(
      coordinator: coordinator, lanes: lanes, operations: catalogue, environment: environment, retention: retention,
      schedules: schedules, watchedRecipes: watchedRecipes, backoff: Backoff(first: 10, longest: 60, spread: 0.5),
      clock: clock.clock,
      random: {
        // The directory and the delegate stay for as long as the queue does.
        _ = (self, delegate)
        return 0.5
      }, logger: logger)
    queue.delegate = delegate
    return queue
  }
}

extension JobSubmission {
  static func of(_ kind: String, priority: Int = 0, lane: String = "import") -> JobSubmission {
    JobSubmission(kind: kind, lane: lane, priority: priority, submittedBy: "anna")
  }

  func with(_ change: (inout JobSubmission) -> Void) -> JobSubmission {
    var copy = self
    change(&copy)
    return copy
  }
}

extension JobQueue {
  /// The job, as soon as it is in a state.
  func job(_ id: Int64, when state: JobState) async throws -> Job {
    try await job(id) { $0.state == state }
  }

  /// The job, as soon as it is as wanted.
  func job(_ id: Int64, when isWanted: @Sendable (Job) -> Bool) async throws -> Job {
    var events = events().makeAsyncIterator()
    let now = try await job(id)
    if isWanted(now) { return now }
    while let job = await events.next() {
      if job.id == id, isWanted(job) { return job }
    }
    return now
  }

  func reasons(_ id: Int64) async throws -> [String] {
    try await job(id, withTransitions: true).transitions?.map(\.reason) ?? []
  }
}
