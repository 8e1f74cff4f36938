import Foundation
import Importing
import Logging
import ManagedObjects
import SQLiteStore
import TestSupport

@testable import Jobs

/// A data store in a file, and a queue whose jobs look after it: everything as a daemon has it, but for the daemon.
final class UpkeepHouse: Sendable {
  let folder: URL
  let data: PersistentStoreCoordinator
  /// nil of a house that another owns.
  private let owned: (any Sendable)?
  private let queueFolder: ScratchDirectory?
  private let queueStore: PersistentStoreCoordinator

  static func people() throws -> ManagedObjectModel {
    try ImportModel.adding(
      to: ManagedObjectModel(entities: [
        EntityDefinition(
          "Person",
          attributes: [
            AttributeDefinition("number", .integer64), AttributeDefinition("name", .string),
          ],
          relationships: [RelationshipDefinition("pets", to: "Pet", inverse: "owner", isToMany: true)],
          uniquenessConstraints: [["number"]],
          indexes: [FetchIndexDefinition("byName", elements: [.init(property: "name")])]),
        EntityDefinition(
          "Pet", attributes: [AttributeDefinition("name", .string)],
          relationships: [RelationshipDefinition("owner", to: "Person", inverse: "pets")]),
      ]))
  }

  convenience init() throws {
    let directory = try ScratchDirectory()
    try self.init(at: directory.url, directory, isNew: true)
  }

  /// On a disk that can be full. The queue's store is elsewhere.
  convenience init(on disk: SmallDisk) throws { try self.init(at: disk.url, disk, isNew: true) }

  /// What stands in a folder already: as a process has it that is started after another.
  convenience init(at folder: URL) throws { try self.init(at: folder, nil, isNew: false) }

  private init(at folder: URL, _ owned: (any Sendable)?, isNew: Bool) throws {
    self.folder = folder
    self.owned = owned
    for name in ["active", "rejects", "backups", "reports"] where isNew {
      try FileManager.default.createDirectory(
        at: folder.appendingPathComponent(name), withIntermediateDirectories: false)
    }
    queueFolder = owned is SmallDisk ? try ScratchDirectory() : nil
    data = PersistentStoreCoordinator(model: try Self.people())
    try data.addPersistentStore(
      .sqlite(at: folder.appendingPathComponent("main.sqlite"), options: .init(pageSize: 4096)))
    queueStore = PersistentStoreCoordinator(model: QueueModel.model)
    try queueStore.addPersistentStore(
      .sqlite(
        at: (queueFolder?.url ?? folder).appendingPathComponent("queue.sqlite"),
        options: .init(durability: .everySave, readers: 2)))
  }

  func path(_ name: String) -> URL { folder.appendingPathComponent(name) }

  var file: URL { path("main.sqlite") }

  /// What is in a folder of the house.
  func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path(folder).path).sorted()
  }

  /// A queue that is started. `scripts` are kinds of the test's own; `heard` is called with what the upkeep of a kind reports,
  /// on its thread, before anybody else hears of it. `done` is called when it has done its work, before the queue hears of it.
  func queue(
    _ scripts: [String: ScriptedOperation.Script] = [:], hearing kind: String? = nil,
    _ heard: @escaping @Sendable (JobProgress) -> Void = { _ in }, done: (@Sendable () -> Void)? = nil,
    environment change: (inout JobEnvironment) -> Void = { _ in }
  ) async throws -> JobQueue {
    var catalogue = OperationCatalogue()
    catalogue.add(ImportOperation.kind, ImportOperation.self)
    catalogue.addMaintenance()
    if let kind, let factory = catalogue.factory(for: kind) {
      catalogue.add(kind, access: catalogue.access(of: kind)) { job, environment in
        var environment = environment
        let report = environment.report
        environment.report = { progress in
          heard(progress)
          report(progress)
        }
        let operation = factory(job, environment)
        return done.map { DoneOperation(operation, $0) } ?? operation
      }
    }
    for (kind, script) in scripts {
      catalogue.add(kind) { ScriptedOperation(job: $0, environment: $1, script: script) }
    }
    let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    var environment = JobEnvironment(
      dataStores: ["main": data], activeDirectory: path("active"),
      rejectsDirectory: path("rejects"), queueIdentifier: "test", logger: quiet)
    environment.upkeep = [
      "main": StoreUpkeep(backupFolder: path("backups"), keptBackups: 3, compression: .zstd)
    ]
    environment.reportsDirectory = path("reports")
    change(&environment)
    let queue = try JobQueue(
      coordinator: queueStore,
      lanes: [.init(name: "import", concurrency: 1), .init(name: "maintenance", concurrency: 1)],
      operations: catalogue, environment: environment,
      random: {
        // The folder stays for as long as the queue does.
        _ = self
        return 0.5
      }, logger: quiet)
    try await queue.start()
    return queue
  }

  /// Writes a file of people, numbered from `first`, and says what makes an import of it.
  func people(_ count: Int, from first: Int = 0, batchSize: Int = 500) throws -> JobSubmission {
    var text = "number,name\n"
    for number in first..<first + count { text += "\(number),Person number \(number) of a file\n" }
    try Data(text.utf8).write(to: path("active/people-\(first).csv"))
    var options = ImportOptions()
    options.batchSize = batchSize
    var submission = JobSubmission(
      kind: "import", source: "people.csv", store: "main", entity: "Person", lane: "import", maxAttempts: 1,
      submittedBy: "test")
    submission.activeName = "people-\(first).csv"
    submission.resolvedOptions = String(decoding: try JSONEncoder().encode(options), as: UTF8.self)
    return submission
  }

  /// Imports a number of people.
  func fill(_ queue: JobQueue, _ count: Int, from first: Int = 0) async throws {
    let job = try await queue.submit(people(count, from: first))
    let end = try await queue.whenEnded(job.id)
    guard end.state == .completed else { throw Unexpected(job: end) }
  }

  /// Runs `body` with a context of its own on the data store.
  func withContext<T>(_ body: (ManagedObjectContext) throws -> T) throws -> T {
    let context = ManagedObjectContext(.confinement, coordinator: data)
    return try body(context)
  }

  func count(_ entity: String = "Person") throws -> Int {
    try withContext { try $0.count(for: FetchRequest<ManagedObject>(entityName: entity)) }
  }

  struct Unexpected: Error { let job: Job }
}

extension JobSubmission {
  /// A job of the lane `maintenance`, as a person would submit it.
  static func upkeep(_ kind: String, _ options: String = "{}", attempts: Int = 1) -> JobSubmission {
    var submission = JobSubmission(
      kind: kind, store: "main", lane: "maintenance", maxAttempts: attempts, submittedBy: "root")
    submission.resolvedOptions = options
    return submission
  }
}

extension JobQueue {
  /// Submits a job and waits for its end.
  func run(_ submission: JobSubmission) async throws -> Job {
    try await whenEnded(submit(submission).id)
  }
}

/// Another operation, which isn't stopped, and then the test's.
private final class DoneOperation: JobOperation, @unchecked Sendable {
  // Sendable: both are constant.
  private let inner: JobOperation?
  private let done: @Sendable () -> Void

  init(_ inner: JobOperation, _ done: @escaping @Sendable () -> Void) {
    self.inner = inner
    self.done = done
    super.init(job: inner.job, environment: inner.environment)
  }

  required init(job: Job, environment: JobEnvironment) {
    (inner, done) = (nil, {})
    super.init(job: job, environment: environment)
  }

  override func perform() throws -> JobOutcome {
    guard let inner else { return .completed(JobProgress()) }
    let outcome = try inner.perform()
    done()
    return outcome
  }
}
