import Foundation
import GRDB
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

/// A file that is opened with one version of a model after the other.
final class MigratedStore {
  let directory: ScratchDirectory
  let file: URL
  /// Objects live no longer than their context.
  private var contexts: [ManagedObjectContext] = []

  init() throws {
    directory = try ScratchDirectory()
    file = directory.file("store.sqlite")
  }

  /// Opens the file with a model, lets `body` work on it, saves and closes it.
  @discardableResult
  func open<T>(
    _ model: ManagedObjectModel, _ change: (inout PersistentStoreDescription) -> Void = { _ in },
    _ body: (ManagedObjectContext) throws -> T
  ) throws -> T {
    let coordinator = PersistentStoreCoordinator(model: model)
    var description = PersistentStoreDescription.sqlite(at: file)
    change(&description)
    try coordinator.addPersistentStore(description)
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    contexts.append(context)
    let result = try body(context)
    try context.save()
    try coordinator.close()
    return result
  }

  @discardableResult
  func open<T>(
    _ entities: [EntityDefinition], _ change: (inout PersistentStoreDescription) -> Void = { _ in },
    _ body: (ManagedObjectContext) throws -> T
  ) throws -> T {
    try open(ManagedObjectModel(entities: entities), change, body)
  }

  /// Opens the file with a model and leaves it as it is then.
  func migrate(_ entities: [EntityDefinition]) throws { try open(entities) { _ in } }

  /// The first column of a query's rows, as text.
  func column(_ sql: String) throws -> [String] {
    try DatabaseQueue(path: file.path).read { db in
      try DatabaseValue.fetchAll(db, sql: sql).map { $0.storage.value.map { "\($0)" } ?? "NULL" }
    }
  }

  /// The obstacles that opening the file with a model meets.
  func obstacles(_ entities: [EntityDefinition]) throws -> [MigrationObstacle] {
    do {
      try migrate(entities)
      return []
    } catch MigrationError.cannotInfer(let obstacles) {
      return obstacles
    }
  }
}

extension ManagedObjectContext {
  /// Every object of an entity, in the order of their numbers.
  func every(_ entity: String) throws -> [ManagedObject] {
    try fetch(FetchRequest<ManagedObject>(entityName: entity)).sorted { "\($0.objectID)" < "\($1.objectID)" }
  }

  /// Inserts an object with values.
  @discardableResult
  func add(_ entity: String, _ values: [String: Value] = [:]) throws -> ManagedObject {
    let object = try insert(entity)
    for (key, value) in values { try object.setValue(value, forKey: key) }
    return object
  }

  /// One property of every object of an entity, in the order of their numbers.
  func values(_ entity: String, _ key: String) throws -> [Value] {
    try every(entity).compactMap { $0.value(forKey: key) }
  }

  /// Expects these values of one property of every object of an entity, in the order of their numbers.
  func expect(
    _ entity: String, _ key: String, _ expected: [Value], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let found = try values(entity, key)
    #expect(found == expected, sourceLocation: sourceLocation)
  }
}
