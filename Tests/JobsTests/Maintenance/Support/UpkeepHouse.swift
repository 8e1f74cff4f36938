import Foundation
import Importing
import Logging
import ManagedObjects
import SQLiteStore
import TestSupport

@testable import Jobs

/// A data store in a file, and a queue whose jobs look after it: everything as a daemon has it, but for the daemon.
final class UpkeepHouse: Sendable {
  let directory: ScratchDirectory
  let data: PersistentStoreCoordinator
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
          indexes: [FetchIndexDefinition("byName", elements: [.init(property: "name")])],
          uniquenessConstraints: [["number"]]),
        EntityDefinition(
          "Pet", attributes: [AttributeDefinition("name", .string)],
          relationships: [RelationshipDefinition("owner", to: "Person", inverse: "pets")]),
      ]))
  }

  init(_ options: SQLiteStoreOptions = .init(pageSize: 4096)) throws {
    directory = try ScratchDirectory()
    data = PersistentStoreCoordinator(model: try Self.people())
    try data.addPersistentStore(.sqlite(at: directory.file("main.sqlite"), options: options))
    queueStore = PersistentStoreCoordinator(model: try QueueModel.make())
    try queueStore.addPersistentStore(
      .sqlite(at: directory.file("queue.sqlite"), options: .init(durability: .everySave, readers: 2)))
    for name in ["active", "rejects", "backups", "reports"] {
      try FileManager.default.createDirectory(at: directory.file(name), withIntermediateDirectories: false)
    }
  }

  var file: URL { directory.file("main.sqlite") }

  /// What is in a folder of the house.
  func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.file(folder).path).sorted()
  }

  /// A queue that is started. `scripts` are kinds of the test's own.
  func queue(
    _ scripts: [String: ScriptedOperation.Script] = [:], _ change: (inout JobEnvironment) -> Void = { _ in }
  ) async throws -> JobQueue {
    var catalogue = OperationCatalogue()
    catalogue.add(ImportOperation.kind, ImportOperation.self)
    catalogue.addMaintenance()
    for (kind, script) in scripts {
      catalogue.add(kind) { ScriptedOperation(job: $0, environment: $1, script: script) }
    }
    let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    var environment = JobEnvironment(
      dataStores: ["main": data], activeDirectory: directory.file("active"),
      rejectsDirectory: directory.file("rejects"), queueIdentifier: "test", logger: quiet)
    change(&environment)
    let queue = try JobQueue(
      coordinator: queueStore,
      lanes: [.init(name: "import", concurrency: 1), .init(name: "maintenance", concurrency: 1)],
      operations: catalogue, environment: environment,
      hooks: .init(finished: { _ in
        // The directory stays for as long as the queue does.
        _ = self
      }), logger: quiet)
    try await queue.start()
    return queue
  }

  /// Writes a file of people, numbered from `first`, and says what makes an import of it.
  func people(_ count: Int, from first: Int = 0, batchSize: Int = 500) throws -> JobSubmission {
    var text = "number,name\n"
    for number in first..<first + count { text += "\(number),Person number \(number) of a file\n" }
    try Data(text.utf8).write(to: directory.file("active/people-\(first).csv"))
    var options = ImportOptions()
    options.batchSize = batchSize
    return JobSubmission(
      kind: "import", lane: "import", store: "main", entity: "Person", source: "people.csv",
      activeName: "people-\(first).csv",
      options: String(decoding: try JSONEncoder().encode(options), as: UTF8.self), maxAttempts: 1, submittedBy: "test")
  }

  /// Imports so many people.
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

  struct Unexpected: Error { let job: JobSnapshot }
}

extension JobSubmission {
  /// A job of the lane `maintenance`, as a person would submit it.
  static func upkeep(_ kind: String, _ options: String = "{}", attempts: Int = 1) -> JobSubmission {
    JobSubmission(
      kind: kind, lane: "maintenance", store: "main", options: options, maxAttempts: attempts, submittedBy: "root")
  }
}

extension JobQueue {
  /// Submits a job and waits for its end.
  func run(_ submission: JobSubmission) async throws -> JobSnapshot {
    try await whenEnded(submit(submission).id)
  }
}
