public import Foundation
import GRDB
public import ManagedObjects
import SQLSchema

extension SQLiteStore: MetadataKeeping {
  package func metadata() throws -> PersistentStoreMetadata {
    try translating { try writer.read { db in try StoredMetadata.read(db, path: url?.path ?? "") } }
  }

  package func setUserInfo(_ userInfo: [String: Value]) throws {
    try translating { try writer.write { db in try StoredMetadata.write(userInfo, db) } }
  }
}

/// A store's metadata as rows of `lade_metadata`.
enum StoredMetadata {
  static func read(_ db: Database, path: String) throws -> PersistentStoreMetadata {
    let kept = try StoredVersion(db, path: path)
    var userInfo: [String: Value] = [:]
    if let text = try StoredVersion.text("user_info", db) {
      userInfo = try JSONDecoder().decode([String: Value].self, from: Data(text.utf8))
    }
    return PersistentStoreMetadata(
      storeType: "SQLite", storeIdentifier: try StoredVersion.text("identifier", db) ?? "",
      modelVersionHashes: kept?.hashes ?? [:], modelVersionIdentifiers: Set(kept?.identifiers ?? []),
      userInfo: userInfo, modelText: kept?.modelText)
  }

  static func write(_ userInfo: [String: Value], _ db: Database) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    try StoredVersion.set("user_info", String(decoding: encoder.encode(userInfo), as: UTF8.self), db)
  }
}

extension PersistentStoreCoordinator {
  /// The metadata of the store in the SQLite file at `url`, without opening it with a model.
  ///
  /// Source: `metadataForPersistentStore(type:at:options:)` of Core Data.
  /// - Throws: ``ManagedObjectError/store(_:)`` when the file can't be read,
  ///   ``ManagedObjectError/incompatibleStore(path:reason:)`` when it is no store of this library.
  public static func metadataForPersistentStore(at url: URL) throws -> PersistentStoreMetadata {
    try SQLiteStore.translating(url) {
      var configuration = Configuration.ofStores
      configuration.readonly = true
      configuration.busyMode = .timeout(30)
      let queue = try DatabaseQueue(path: url.path, configuration: configuration)
      return try queue.read { db in
        guard try db.tableExists("lade_metadata") else {
          throw ManagedObjectError.incompatibleStore(path: url.path, reason: "it has no table lade_metadata")
        }
        return try StoredMetadata.read(db, path: url.path)
      }
    }
  }
}

extension SQLiteStore {
  /// Checks whether the file at `url` can be opened with a model, as far as that follows from the model and from the one that
  /// the file contains. Changes nothing, and leaves what depends on the rows to the migration.
  ///
  /// - Throws: ``SchemaError`` when the model has no tables, ``MigrationError/cannotInfer(obstacles:)`` with every obstacle,
  ///   ``MigrationError/unreadableModel(store:reason:)``, or ``ManagedObjectError/store(_:)`` when the file can't be read.
  package static func checkMigration(
    at url: URL, to model: ManagedObjectModel, _ options: MigrationOptions
  ) throws {
    _ = try SchemaMap(model: model)
    guard FileManager.default.fileExists(atPath: url.path) else { return }
    try SQLiteStore.translating(url) {
      var configuration = Configuration.ofStores
      configuration.readonly = true
      configuration.busyMode = .timeout(30)
      var path = url.path
      // Without a log, no process has the file open: SQLite then needn't make the files that connections share.
      if !FileManager.default.fileExists(atPath: path + "-wal") {
        path = "file://" + url.path(percentEncoded: true) + "?immutable=1"
      }
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      try queue.read { db in
        guard try db.tableExists("lade_metadata") else { return }
        let opening = StoreOpening(model: model, entities: model.entities, path: url.path, options: options)
        try opening.checkMigration(db)
      }
    }
  }
}
