import Foundation
import Importing
import ManagedObjects
import PostgresStore
import SQLiteStore

/// What is to be imported, and where to.
struct Job {
  /// The path of an SQLite file, or nothing.
  var database = ""
  /// How libpq finds a PostgreSQL database, or nothing.
  var connection = ""
  /// The PostgreSQL schema of the store.
  var schema = "lade"
  var source: String
  var model = PeopleModel.plain
  var entity = "Person"
  var mode = ImportMode.insert
  var batchSize: Int?
  /// Whether the store keeps where each row comes from.
  var lineage = false

  /// Imports the source into an SQLite store in WAL or one in PostgreSQL, which is made if it isn't there. The objects are
  /// whole: validated, unique, with IDs, and their saves announced to a main context that merges them.
  func run() async throws -> FileImport.Result {
    let coordinator = PersistentStoreCoordinator(model: try model.make())
    try coordinator.addPersistentStore(
      connection.isEmpty
        ? .sqlite(at: URL(fileURLWithPath: database)) : .postgres(connection, schema: schema))
    let main = ContextQueue(.mainQueue, coordinator: coordinator, name: "main")
    let follower = NotificationCenter.default.addObserver(
      forName: ManagedObjectContext.didSaveObjectsNotification, object: nil, queue: nil
    ) { notification in
      guard let save = ContextSave(notification) else { return }
      main.perform { main in main.mergeChanges(fromContextDidSave: save) }
    }
    defer { NotificationCenter.default.removeObserver(follower) }
    var load = FileImport(into: entity, of: coordinator)
    load.options.mode = mode
    if lineage { load.options.lineage = true }
    if let batchSize { load.options.batchSize = batchSize }
    load.rejects = URL(fileURLWithPath: (connection.isEmpty ? database : source) + ".rejects")
    return try await offTheMainQueue { [load, source] in try load.run(URL(fileURLWithPath: source)) }
  }
}

/// The import blocks its thread, while the main queue merges.
private func offTheMainQueue<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
  }
}
