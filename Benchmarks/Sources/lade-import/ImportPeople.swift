import Foundation
import Importing
import ManagedObjects
import SQLiteStore

/// Imports the standard load's CSV into a new SQLite store: entity `Person`, `id` its primary key, an index
/// on `email`, WAL. The objects are whole: validated, unique, with IDs, and their saves announced to a main context that
/// merges them.
///
/// - Returns: how many rows were inserted.
func importPeople(database: String, csv: String) async throws -> Int {
  let people = try ManagedObjectModel(entities: [
    EntityDefinition(
      "Person",
      attributes: [
        AttributeDefinition("id", .integer64, isOptional: false), AttributeDefinition("name", .string),
        AttributeDefinition("email", .string), AttributeDefinition("age", .integer32),
        AttributeDefinition("balance", .double), AttributeDefinition("created", .date),
        AttributeDefinition("note", .string),
      ],
      indexes: [FetchIndexDefinition("byEmail", elements: [.init(property: "email")])],
      userInfo: ["primaryKey": "id"])
  ])
  let coordinator = PersistentStoreCoordinator(model: try FileImport.model(adding: people))
  try coordinator.addPersistentStore(.sqlite(at: URL(fileURLWithPath: database)))
  let main = ManagedObjectContext(.mainQueue, coordinator: coordinator, name: "main")
  let follower = NotificationCenter.default.addObserver(
    forName: ManagedObjectContext.didSaveObjectsNotification, object: nil, queue: nil
  ) { notification in
    guard let save = ContextSave(notification) else { return }
    main.perform { main.mergeChanges(fromContextDidSave: save) }
  }
  defer { NotificationCenter.default.removeObserver(follower) }
  var load = FileImport(into: "Person", of: coordinator)
  load.mode = .insert
  load.rejects = URL(fileURLWithPath: database + ".rejects")
  return try await offTheMainQueue { [load] in Int(try load.run(URL(fileURLWithPath: csv)).inserted) }
}

/// The import blocks its thread, and the main queue has merging to do meanwhile.
private func offTheMainQueue<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
  }
}
