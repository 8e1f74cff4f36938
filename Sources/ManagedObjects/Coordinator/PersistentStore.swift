public import Foundation

/// One of a coordinator's stores. Safe from any thread.
///
/// It comes from ``PersistentStoreCoordinator/addPersistentStore(_:)`` and
/// ``PersistentStoreCoordinator/persistentStores``, and names a store: where new objects are saved
/// (``ManagedObjectContext/assign(_:to:)``), where a request searches (``FetchRequest/affectedStores``), which store to remove.
///
/// Source: Core Data's `NSPersistentStore`.
public final class PersistentStore: Sendable {
  /// A UUID that stays with the store's content.
  public let identifier: String
  /// The store's place; nil for a store in memory.
  public let url: URL?
  /// Its type.
  public let type: StoreType
  /// Whether it was opened for reading only. Source: `isReadOnly` of Core Data, where it can be changed later.
  public let isReadOnly: Bool
  /// The configuration of the model that it was added with; nil for none. Source: `configurationName` of Core Data, which is
  /// `PF_DEFAULT_CONFIGURATION_NAME` for none.
  public let configurationName: String?
  /// The entities whose objects it holds.
  package let entities: [EntityDescription]
  /// What it was added by.
  let addition: PersistentStoreDescription
  /// The store itself, which reads and writes.
  package let content: any IncrementalStore
  private let indexes: Set<Int>

  init(_ content: any IncrementalStore, _ description: PersistentStoreDescription, entities: [EntityDescription]) {
    self.content = content
    addition = description
    self.entities = entities
    identifier = content.identifier
    url = content.url
    type = description.type
    isReadOnly = description.isReadOnly
    configurationName = description.configuration
    indexes = Set(entities.map(\.index))
  }

  /// The names of the entities whose objects it holds.
  public var entityNames: [String] { entities.map(\.name) }

  /// Whether it holds objects of the entity itself, apart from entities that inherit from it.
  func holds(_ entity: EntityDescription) -> Bool { indexes.contains(entity.index) }

  /// The store itself, to write to.
  /// - Parameter operation: names in the error what would write.
  /// - Throws: ``PersistentStoreError/readOnly(store:operation:)``.
  package func writableContent(to operation: String) throws -> any IncrementalStore {
    if isReadOnly { throw PersistentStoreError.readOnly(store: url?.path ?? identifier, operation: operation) }
    return content
  }

  /// Makes everything written so far survive a loss of power.
  package func synchronize() throws { if !isReadOnly { try content.synchronize() } }
}

extension PersistentStore: Hashable {
  /// Whether both are the same store of the same coordinator.
  public static func == (a: PersistentStore, b: PersistentStore) -> Bool { a === b }
  /// Hashes the store's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension PersistentStore: CustomStringConvertible {
  /// Its file or "in memory", and its identifier.
  public var description: String { "\(url?.path ?? "in memory") (\(identifier))" }
}

extension PersistentStoreCoordinator {
  /// Opens one of the coordinator's stores at another place, where there is a store already, and closes it at the present one. No
  /// save can come in between. Objects that contexts hold are the new store's if it has the same identifier, as a file that was
  /// moved or a copy has.
  ///
  /// Source: `setURL(_:for:)` of Core Data, which changes the store; here it is another one, with the old one's configuration and
  /// options. To take the content along, use `migratePersistentStore`.
  /// - Returns: the store at the new place.
  /// - Throws: ``PersistentStoreError/unknownStore(identifier:)``, ``ManagedObjectError/store(_:)`` when there is no file, or what
  ///   ``addPersistentStore(_:)`` throws. The coordinator then has the store at the old place.
  @discardableResult
  public func setURL(_ url: URL, for store: PersistentStore) throws -> PersistentStore {
    guard persistentStores.contains(store) else {
      throw PersistentStoreError.unknownStore(identifier: store.identifier)
    }
    guard FileManager.default.fileExists(atPath: url.path) else {
      throw ManagedObjectError.store(
        StoreFailure(.cannotOpen, path: url.path, message: "there is no store at the new place, and none is made"))
    }
    var description = store.addition
    description.url = url
    var new: PersistentStore?
    _ = try asSave("move to another store") {
      try remove(store)
      do {
        new = try addPersistentStore(description)
      } catch {
        try addPersistentStore(store.addition)
        throw error
      }
    }
    guard let new else { throw PersistentStoreError.unknownStore(identifier: store.identifier) }
    return new
  }
}
