import Foundation
import GRDB
import ManagedObjects

/// The version of the model that made a file's tables, in `lade_metadata`: the whole model, so that a later version can
/// migrate the file without the earlier model's own file, and the version hashes of the entities that it holds.
struct StoredVersion: Equatable {
  /// The version hash of each entity of the store.
  var hashes: [String: Data]
  /// The version identifiers that the model's author gave.
  var identifiers: [String]
  /// The model, as ``ModelDefinition/text()`` writes it.
  var modelText: String

  /// The version of some entities of a model.
  init(_ model: ManagedObjectModel, _ entities: [EntityDescription]) throws {
    hashes = model.entityVersionHashes(of: entities)
    identifiers = model.versionIdentifiers.sorted()
    modelText = try ModelDefinition(model).text()
  }

  /// Reads the file's version; nil when it was made before versions were kept.
  init?(_ db: Database, path: String) throws {
    guard let modelText = try Self.text("model", db), let hashes = try Self.text("model_hashes", db) else { return nil }
    self.modelText = modelText
    do {
      self.hashes = try JSONDecoder().decode([String: Data].self, from: Data(hashes.utf8))
      let identifiers = try Self.text("model_identifiers", db) ?? "[]"
      self.identifiers = try JSONDecoder().decode([String].self, from: Data(identifiers.utf8))
    } catch let error as DecodingError {
      throw MigrationError.unreadableModel(store: path, reason: "\(error)")
    }
  }

  /// Writes it to the file.
  func write(_ db: Database) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    try Self.set("model", modelText, db)
    try Self.set("model_hashes", String(decoding: encoder.encode(hashes), as: UTF8.self), db)
    try Self.set("model_identifiers", String(decoding: encoder.encode(identifiers), as: UTF8.self), db)
  }

  /// The model that made the file.
  func model(path: String) throws -> ManagedObjectModel { try ModelDefinition(text: modelText, store: path).model() }

  static func text(_ key: String, _ db: Database) throws -> String? {
    try String.fetchOne(db, sql: "SELECT value FROM lade_metadata WHERE key = ?", arguments: [key])
  }

  static func set(_ key: String, _ text: String, _ db: Database) throws {
    try db.execute(sql: "INSERT OR REPLACE INTO lade_metadata (key, value) VALUES (?, ?)", arguments: [key, text])
  }
}
