public import Foundation

extension ManagedObjectModel {
  /// The version hash of each entity, by its name. Source: `entityVersionHashesByName` of Core Data.
  public var entityVersionHashesByName: [String: Data] { entityVersionHashes(of: entities) }

  /// The version hashes of some of the entities, by name.
  package func entityVersionHashes(of entities: [EntityDescription]) -> [String: Data] {
    Dictionary(entities.map { ($0.name, $0.versionHash) }, uniquingKeysWith: { first, _ in first })
  }

  /// The hashes of all entities in one text, which tells a model's versions apart.
  /// Source: `versionChecksum` of Core Data's `NSManagedObjectModel`.
  public var versionChecksum: String { Self.checksum(entityVersionHashesByName) }

  package static func checksum(_ hashes: [String: Data]) -> String {
    let fields = hashes.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value.base64EncodedString()] }
    return HashText(fields).digest.base64EncodedString()
  }

  /// The identifiers that the author gave to this version. They aren't interpreted.
  /// Source: `versionIdentifiers` of Core Data.
  public var versionIdentifiers: Set<String> { Set(versionIdentifier.map { [$0] } ?? []) }

  /// Whether a store with this metadata can be opened as it is.
  ///
  /// Source: `isConfiguration(withName:compatibleWithStoreMetadata:)` of Core Data.
  /// - Parameters:
  ///   - configuration: the configuration whose entities the store is to hold; nil for all.
  ///   - metadata: the store's metadata.
  /// - Returns: false also when the model has no such configuration.
  public func isConfiguration(
    withName configuration: String?, compatibleWithStoreMetadata metadata: PersistentStoreMetadata
  ) -> Bool {
    guard let configuration else { return metadata.modelVersionHashes == entityVersionHashesByName }
    guard let names = configurations[configuration] else { return false }
    return metadata.modelVersionHashes == entityVersionHashesByName.filter { names.contains($0.key) }
  }
}
