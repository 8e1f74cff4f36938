import Foundation
import GRDB
import Importing
import Logging
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@testable import Jobs

/// A data store in SQLite, a queue of the real operations over it, and ways to fill and to look at the store.
final class Warehouse: Sendable {
  let folder: ScratchDirectory
  let data: PersistentStoreCoordinator
  let faults = DataStoreFaults()
  let clock = ManualClock()
  private let queueStore: PersistentStoreCoordinator
  let queue: JobQueue

  var exports: URL { folder.file("state/exports") }
  var active: URL { folder.file("active") }

  /// - Parameters:
  ///   - keepsBefore: whether former values are kept, where rows are traced.
  ///   - place: where the stores are that it shares with others, as daemons do.
  init(
    model: ManagedObjectModel? = nil, keepsBefore: Bool = true, at place: WarehousePlace? = nil,
    _ add: (inout OperationCatalogue) -> Void = { _ in }
  ) async throws {
    folder = try place?.folder ?? ScratchDirectory()
    let faults = faults
    data = PersistentStoreCoordinator(model: try model ?? WarehouseModel.model.get())
    let description = place?.data ?? PersistentStoreDescription.sqlite(at: folder.file("data.sqlite"))
    try data.addPersistentStore(
      PersistentStoreDescription { model, entities in
        FaultyDataStore(try description.open(model, entities), faults: faults)
      })
    queueStore = PersistentStoreCoordinator(model: QueueModel.model)
    try queueStore.addPersistentStore(place?.queue ?? .inMemory())
    for name in ["active", "state", "state/rejects"] {
      try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: true)
    }
    var catalogue = OperationCatalogue()
    catalogue.add(ImportOperation.kind, ImportOperation.self)
    catalogue.addObjects()
    add(&catalogue)
    let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    var environment = JobEnvironment(
      dataStores: ["main": data], activeDirectory: folder.file("active"),
      rejectsDirectory: folder.file("state/rejects"), queueIdentifier: "queue", logger: quiet)
    environment.reportsDirectory = folder.file("state/reports")
    environment.keepsBeforeImages = { keepsBefore }
    queue = try JobQueue(
      coordinator: queueStore,
      lanes: [.init(name: "import", concurrency: 1), .init(name: "maintenance", concurrency: 1)], operations: catalogue,
      environment: environment, backoff: Backoff(first: 10, longest: 60, spread: 0), clock: clock.clock,
      random: { 0.5 }, logger: quiet)
    try await queue.start()
  }

  // MARK: Jobs

  func submit(_ kind: String, _ entity: String?, _ options: String = "{}", lane: String = "maintenance") async throws
    -> Job
  {
    try await queue.submit(
      JobSubmission(kind: kind, store: "main", entity: entity, lane: lane, maxAttempts: 50, submittedBy: "anna")
        .with { $0.resolvedOptions = options })
  }

  /// Runs a job to its end.
  func run(_ kind: String, _ entity: String?, _ options: String = "{}") async throws -> Job {
    try await queue.whenEnded(try await submit(kind, entity, options).id)
  }

  /// Runs a job that is tried again, by the same number, until it ends.
  func persist(_ kind: String, _ entity: String, _ options: String) async throws -> Job {
    let id = try await submit(kind, entity, options).id
    while true {
      let job = try await queue.job(id) { $0.state.isEnded || $0.state == .retryable }
      if job.state.isEnded { return try await queue.whenEnded(id) }
      faults.heal()
      clock.advance(by: 3600)
      _ = try await queue.job(id) { $0.state != .retryable }
    }
  }

  /// Imports a file of the folder of exports.
  func take(_ file: String, from other: Warehouse, into entity: String, _ options: ImportOptions) async throws
    -> Job
  {
    try FileManager.default.copyItem(
      at: other.exports.appendingPathComponent(file), to: active.appendingPathComponent(file))
    let json = String(decoding: try JSONEncoder().encode(options), as: UTF8.self)
    let job = try await queue.submit(
      JobSubmission(
        kind: ImportOperation.kind, source: file, store: "main", entity: entity, lane: "import", submittedBy: "anna"
      ).with { ($0.activeName, $0.resolvedOptions) = (file, json) })
    return try await queue.whenEnded(job.id)
  }

  /// Imports a text, and records where its rows come from.
  func load(
    _ text: String, as file: String = "a.csv", into entity: String, _ mode: ImportMode? = nil,
    _ adjust: (inout ImportOptions) -> Void = { _ in }
  ) async throws -> Job {
    try Data(text.utf8).write(to: active.appendingPathComponent(file))
    var options = ImportOptions(mode: mode)
    options.lineage = true
    adjust(&options)
    let json = String(decoding: try JSONEncoder().encode(options), as: UTF8.self)
    let job = try await queue.submit(
      JobSubmission(
        kind: ImportOperation.kind, source: file, store: "main", entity: entity, lane: "import", submittedBy: "anna"
      ).with { ($0.activeName, $0.resolvedOptions) = (file, json) })
    return try await queue.whenEnded(job.id)
  }

  // MARK: Files

  func contents(_ file: String) throws -> String {
    String(decoding: try Data(contentsOf: exports.appendingPathComponent(file)), as: UTF8.self)
  }

  /// Everything in the folder of exports, hidden files too.
  var files: [String] {
    get throws {
      guard FileManager.default.fileExists(atPath: exports.path) else { return [] }
      return try FileManager.default.contentsOfDirectory(atPath: exports.path).sorted()
    }
  }

  // MARK: Objects

  func context() -> ManagedObjectContext { ManagedObjectContext(.confinement, coordinator: data, name: "test") }

  /// Saves changes in a context of their own.
  func change(_ body: (ManagedObjectContext) throws -> Void) throws {
    let context = context()
    try body(context)
    try context.save()
  }

  /// Items numbered from 1, coded `i00001`, each with its number in `middle`.
  func fill(_ count: Int, of entity: String = "Item", also: (Int, ManagedObject) throws -> Void = { _, _ in }) throws {
    try change { context in
      for number in 1...count {
        let item = try context.insert(entity)
        try item.setValue(.string(Self.code(number)), forKey: "code")
        try item.setValue(.int(Int64(number)), forKey: "middle")
        try also(number, item)
      }
    }
  }

  /// Has another program write to the file, which knows of no references.
  func vandalise(_ statements: String...) throws {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    let database = try DatabaseQueue(path: folder.file("data.sqlite").path, configuration: configuration)
    try database.write { db in
      for statement in statements { try db.execute(sql: statement) }
    }
    try database.close()
  }

  func uniqueIndexes(of table: String) throws -> [String] {
    let database = try DatabaseQueue(path: folder.file("data.sqlite").path)
    return try database.read { db in
      try String.fetchAll(
        db, sql: "SELECT name FROM pragma_index_list(?) WHERE \"unique\" AND origin = 'c'", arguments: [table])
    }
  }

  static func code(_ number: Int) -> String { "i" + String(100_000 + number).dropFirst() }

  func count(_ entity: String, _ predicate: String? = nil) throws -> Int {
    try context().count(
      for: FetchRequest<ManagedObject>(
        entityName: entity, predicate: try predicate.map { try FetchPredicate(format: $0) }))
  }

  /// A value with all its bits.
  private static func text(_ value: Value) -> String { value.isNull ? "null" : value.plainText }

  /// Every object of an entity as a line: all its attributes, and the keys of what its relationships lead to.
  func rows(_ entity: String) throws -> [String] {
    let context = context()
    return try context.fetch(FetchRequest<ManagedObject>(entityName: entity, includesSubentities: false)).map {
      object in
      let attributes = object.entity.attributes.map { "\($0.name)=\(Self.text(object.value(at: $0.slot)))" }
      let relationships = object.entity.relationships.map { relationship in
        let value = object.value(forKey: relationship.name)
        let ids: [ManagedObjectID] = if case .object(let id)? = value { [id] } else { value?.relatedIDs ?? [] }
        let key = relationship.destinationEntity.uniquenessConstraints.first?.first
        let keys = ids.map { id in key.map { Self.text(context.object(with: id).value(at: $0.slot)) } ?? "?" }
        return "\(relationship.name)→\(keys.sorted())"
      }
      return (attributes + relationships).joined(separator: " ")
    }.sorted()
  }
}
