import Foundation
import GRDB
import ManagedObjects
import SQLiteStore
import TestSupport

/// A store with an entity that has an index of its own.
struct IndexedStack {
  let coordinator: PersistentStoreCoordinator
  let store: PersistentStore
  let entity: EntityDescription
  let context: ManagedObjectContext
  private let directory: ScratchDirectory

  init() throws {
    directory = try ScratchDirectory()
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(
        "Thing", attributes: [AttributeDefinition("name", .string)],
        indexes: [FetchIndexDefinition("byName", elements: [.init(property: "name")])])
    ])
    coordinator = PersistentStoreCoordinator(model: model)
    store = try coordinator.addPersistentStore(.sqlite(at: directory.file("things.sqlite")))
    entity = model.entities[0]
    context = ManagedObjectContext(.confinement, coordinator: coordinator)
  }

  /// The names of the table's indexes, as another program sees them.
  func indexes() throws -> [String] {
    try DatabaseQueue(path: directory.file("things.sqlite").path).read { db in
      try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'Thing'")
    }
  }
}
