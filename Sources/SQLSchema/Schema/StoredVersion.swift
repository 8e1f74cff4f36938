package import Foundation
package import ManagedObjects

/// The version of the model that made a store's tables, in `lade_metadata`: the whole model, so that a later version can migrate
/// the store without the earlier model's own file, and the version hashes of the entities that it holds.
package struct StoredVersion: Equatable, Sendable {
  /// The version hash of each entity of the store.
  package var hashes: [String: Data]
  /// The version identifiers that the model's author gave.
  package var identifiers: [String]
  /// The model, as ``ModelDefinition/text()`` writes it.
  package var modelText: String

  /// The version of some entities of a model.
  package init(_ model: ManagedObjectModel, _ entities: [EntityDescription]) throws {
    hashes = model.entityVersionHashes(of: entities)
    identifiers = model.versionIdentifiers.sorted()
    modelText = try ModelDefinition(model).text()
  }

  /// Reads a store's version; nil when it was made before versions were kept.
  /// - Parameters:
  ///   - path: the store, for errors.
  ///   - text: the value of a key in `lade_metadata`.
  package init?(path: String, text: (String) throws -> String?) throws {
    guard let modelText = try text("model"), let hashes = try text("model_hashes") else { return nil }
    self.modelText = modelText
    do {
      self.hashes = try JSONDecoder().decode([String: Data].self, from: Data(hashes.utf8))
      let identifiers = try text("model_identifiers") ?? "[]"
      self.identifiers = try JSONDecoder().decode([String].self, from: Data(identifiers.utf8))
    } catch let error as DecodingError {
      throw MigrationError.unreadableModel(store: path, reason: "\(error)")
    }
  }

  /// Writes it, by `set` of a key and its value.
  package func write(_ set: (String, String) throws -> Void) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    try set("model", modelText)
    try set("model_hashes", String(decoding: encoder.encode(hashes), as: UTF8.self))
    try set("model_identifiers", String(decoding: encoder.encode(identifiers), as: UTF8.self))
  }

  /// The model that made the store.
  package func model(path: String) throws -> ManagedObjectModel {
    try ModelDefinition(text: modelText, store: path).model()
  }
}
