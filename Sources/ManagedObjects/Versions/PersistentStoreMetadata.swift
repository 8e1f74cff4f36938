public import Foundation

/// A store's metadata: the model that made it, and values that a program has set.
///
/// Source: the metadata dictionary of Core Data's stores, with its keys as properties.
public struct PersistentStoreMetadata: Sendable, Hashable {
  /// `SQLite` or `InMemory`. Core Data: `NSStoreTypeKey`.
  public let storeType: String
  /// A UUID that stays with the store's content. Core Data: `NSStoreUUIDKey`.
  public let storeIdentifier: String
  /// The version hash of each entity in the store. Core Data: `NSStoreModelVersionHashesKey`. Empty in a file that was
  /// made before version hashes were kept, until it is opened.
  public let modelVersionHashes: [String: Data]
  /// The version identifiers of the model that made the store. Core Data: `NSStoreModelVersionIdentifiersKey`.
  public let modelVersionIdentifiers: Set<String>
  /// Values that a program has set, by names of its choice. A Core Data program puts such keys into the dictionary itself.
  public let userInfo: [String: Value]
  /// The model that made the store, as text; nil where none is kept.
  package let modelText: String?

  /// The metadata of a store of your own kind, which keeps no model.
  public init(
    storeType: String, storeIdentifier: String, modelVersionHashes: [String: Data] = [:],
    modelVersionIdentifiers: Set<String> = [], userInfo: [String: Value] = [:]
  ) {
    self.init(
      storeType: storeType, storeIdentifier: storeIdentifier, modelVersionHashes: modelVersionHashes,
      modelVersionIdentifiers: modelVersionIdentifiers, userInfo: userInfo, modelText: nil)
  }

  package init(
    storeType: String, storeIdentifier: String, modelVersionHashes: [String: Data] = [:],
    modelVersionIdentifiers: Set<String> = [], userInfo: [String: Value] = [:], modelText: String?
  ) {
    self.storeType = storeType
    self.storeIdentifier = storeIdentifier
    self.modelVersionHashes = modelVersionHashes
    self.modelVersionIdentifiers = modelVersionIdentifiers
    self.userInfo = userInfo
    self.modelText = modelText
  }

  /// The model that made the store; nil where the store keeps none.
  ///
  /// Not in Core Data, which looks for it among the models of the program. Each call makes a model, and models are never freed.
  /// - Throws: ``MigrationError/unreadableModel(store:reason:)``, or ``ModelError``.
  public func managedObjectModel() throws -> ManagedObjectModel? {
    try modelText.map { try ModelDefinition(text: $0, store: storeIdentifier).model() }
  }
}

/// A store that keeps metadata: the model that made it, and values that programs have set. Optional; see ``IncrementalStore``. Safe from any
/// thread.
public protocol MetadataKeeping: IncrementalStore {
  /// The metadata. Its ``PersistentStoreMetadata/storeIdentifier`` is the store's identifier.
  /// - Throws: ``ManagedObjectError/store(_:)``.
  func metadata() throws -> PersistentStoreMetadata
  /// Replaces the values that programs have set. They are durable when this returns, as far as a save is.
  /// - Throws: ``ManagedObjectError/store(_:)``.
  func setUserInfo(_ userInfo: [String: Value]) throws
}

extension PersistentStoreCoordinator {
  /// The metadata of the store with that identifier.
  ///
  /// Source: `metadata(for:)` of Core Data.
  /// - Throws: ``ManagedObjectError/noStore(entity:)`` when the coordinator doesn't have the store, or the store's error.
  public func metadata(for storeIdentifier: String) throws -> PersistentStoreMetadata {
    try keeper(storeIdentifier).metadata()
  }

  /// Replaces the values that programs have set in the store with that identifier, at once.
  ///
  /// Source: `setMetadata(_:for:)` of Core Data, where the next save writes it; here it is written when this returns,
  /// and the hashes can't be changed.
  /// - Throws: ``ManagedObjectError/noStore(entity:)``, ``MigrationError/unstorableMetadata(key:)`` for a relationship's
  ///   value, or the store's error.
  public func setMetadata(_ userInfo: [String: Value], for storeIdentifier: String) throws {
    for (key, value) in userInfo where value.typeAndText == nil { throw MigrationError.unstorableMetadata(key: key) }
    for store in persistentStores where store.identifier == storeIdentifier {
      _ = try store.writableContent(to: "set metadata")
    }
    try keeper(storeIdentifier).setUserInfo(userInfo)
  }

  /// The store's metadata. Source: `metadata(for:)` of Core Data.
  /// - Throws: ``ManagedObjectError/noStore(entity:)`` when the coordinator doesn't have the store, or the store's error.
  public func metadata(for store: PersistentStore) throws -> PersistentStoreMetadata {
    try metadata(for: store.identifier)
  }

  /// Replaces the values that programs have set in the store, at once, as ``setMetadata(_:for:)-([String:Value],String)`` does.
  public func setMetadata(_ userInfo: [String: Value], for store: PersistentStore) throws {
    try setMetadata(userInfo, for: store.identifier)
  }

  private func keeper(_ identifier: String) throws -> any MetadataKeeping {
    for store in persistentStores where store.identifier == identifier {
      if let keeper = store.content as? any MetadataKeeping { return keeper }
    }
    throw ManagedObjectError.noStore(entity: "the store \(identifier)")
  }
}
