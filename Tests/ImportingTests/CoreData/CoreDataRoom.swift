import Foundation
import ManagedObjects
import SQLiteStore
import TestSupport

@testable import Importing

/// A Core Data store, and a store of ours into which it is imported.
final class CoreDataRoom {
  let folder: ScratchDirectory
  let source: URL
  let coordinator: PersistentStoreCoordinator

  /// A copy of a store that Core Data wrote, imported by its own model.
  convenience init(copyOf name: String) throws {
    let folder = try ScratchDirectory()
    let source = folder.file("App.sqlite")
    try CoreDataFiles.data(name).write(to: source)
    try self.init(folder, source, CoreDataRowNumbers.adding(to: CoreDataStoreModel.read(source)))
  }

  /// A store of these tables and rows, as Core Data lays them out, without a model in it.
  convenience init(_ sql: String, _ entities: [EntityDefinition]) throws {
    let folder = try ScratchDirectory()
    let source = folder.file("App.sqlite")
    try SQLiteFixture.make(
      """
      CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
      CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
      """ + sql, at: source)
    try self.init(folder, source, CoreDataRowNumbers.adding(to: ManagedObjectModel(entities: entities)))
  }

  init(_ folder: ScratchDirectory, _ source: URL, _ model: ManagedObjectModel) throws {
    (self.folder, self.source) = (folder, source)
    coordinator = PersistentStoreCoordinator(model: try ImportModel.adding(to: model))
    try coordinator.addPersistentStore(.sqlite(at: folder.file("ours.sqlite")))
  }

  /// Imports the store.
  @discardableResult
  func run(
    reading: [String: String] = [:], name: String? = nil, batchSize: Int = 10_000, shouldStop: () -> Bool = { false }
  ) throws -> FileImport.Result {
    var feed = FileImport(into: "*", of: coordinator)
    feed.options.reading = reading
    feed.options.batchSize = batchSize
    feed.name = name
    return try feed.run(source, shouldStop: shouldStop)
  }

  /// The values of all objects of exactly this entity, at key paths, in the order of the texts. Those of several objects are
  /// in the order of an ordered relationship, or of the texts.
  func rows(_ entity: String, _ paths: String...) throws -> [String] {
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    var request = FetchRequest<ManagedObject>(entityName: entity)
    request.includesSubentities = false
    return try context.fetch(request).map { object in
      paths.map { path in
        var values: [Value] = [.object(object.objectID)]
        var isSorted = false
        for key in path.split(separator: ".") {
          values = values.flatMap { value -> [Value] in
            guard case .object(let id) = value else { return [] }
            switch context.object(with: id).value(forKey: String(key)) {
            case .objects(let ids):
              isSorted = true
              return ids.map(Value.object)
            case .orderedObjects(let ids): return ids.map(Value.object)
            case let found: return found.map { [$0] } ?? []
            }
          }
        }
        let texts = values.map(\.plainText)
        return (isSorted ? texts.sorted() : texts).joined(separator: " ")
      }.joined(separator: "|")
    }.sorted()
  }

  /// How many objects of an entity there are, subentities included.
  func count(_ entity: String) throws -> Int {
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    return try context.count(for: FetchRequest<ManagedObject>(entityName: entity))
  }
}
