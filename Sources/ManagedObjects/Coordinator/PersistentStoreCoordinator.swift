public import Foundation
import Synchronization

/// Connects contexts and stores: a context's fetch goes to the stores that hold the entity, and its save to the stores of its
/// objects.
///
/// Safe from any thread. Several contexts may fetch and save at the same time; an SQLite store lets readers continue while it
/// writes.
///
/// Source: Core Data's `NSPersistentStoreCoordinator`.
public final class PersistentStoreCoordinator: Sendable {
  /// The model that all its contexts share.
  public let model: ManagedObjectModel
  private let temporaryScopes: [IDScope]
  private let state: Mutex<State>
  /// The lock for saves, which keeps them in the order of their numbers. Recursive: code that is notified within a save may save
  /// too.
  let saving = NSRecursiveLock()
  /// The number of the last save.
  nonisolated(unsafe) var lastSave: Int64 = 0  // under `saving`
  /// The transaction of several saves that the thread which holds `saving` has begun.
  nonisolated(unsafe) var openTransaction: TransactionScope?  // under `saving`
  /// The contexts that merge saves automatically.
  let followers = SaveFollowers()

  private struct State {
    var map: StoreMap
  }

  /// A coordinator without stores.
  public init(model: ManagedObjectModel) {
    self.model = model
    temporaryScopes = model.entities.map { IDScope(entity: $0, storeIdentifier: "") }
    state = Mutex(State(map: StoreMap(model, [])))
  }

  /// Opens a store and adds it.
  ///
  /// It holds the entities of its configuration, whether or not other stores hold them too. An entity's new objects go to the
  /// store that was added first, unless ``ManagedObjectContext/assign(_:to:)`` assigns another; a fetch searches all of them,
  /// unless ``FetchRequest/affectedStores`` names some.
  ///
  /// Source: `addPersistentStore(with:completionHandler:)` of Core Data, which doesn't allow stores with and without a
  /// configuration beside each other. Here, a store without one holds the entities that the configurations of earlier stores
  /// leave.
  /// - Throws: ``ManagedObjectError/classMismatch(_:)`` with every mismatch between typed classes and the model, ``PersistentStoreError/unknownConfiguration(name:known:)``,
  ///   ``PersistentStoreError/alreadyAdded(identifier:)``, or the store's error.
  @discardableResult
  public func addPersistentStore(_ description: PersistentStoreDescription) throws -> PersistentStore {
    guard model.classMismatches.isEmpty else { throw ManagedObjectError.classMismatch(model.classMismatches) }
    let entities = try entities(of: description.configuration)
    let content = try description.open(model, entities)
    let store = PersistentStore(content, configuration: description.configuration, entities: entities)
    do {
      try add(store) { try followRemoteChanges(of: content) }
    } catch {
      try content.close()
      throw error
    }
    postStoresDidChange(.addedStores, store)
    return store
  }

  private func entities(of configuration: String?) throws -> [EntityDescription] {
    guard let configuration else {
      let taken = Set(persistentStores.filter { $0.configurationName != nil }.flatMap(\.entities))
      return model.entities.filter { !taken.contains($0) }
    }
    guard let names = model.configurations[configuration] else {
      throw PersistentStoreError.unknownConfiguration(name: configuration, known: Array(model.configurations.keys))
    }
    return model.entities.filter { names.contains($0.name) }
  }

  private func add(_ store: PersistentStore, _ follow: () throws -> Void) throws {
    try saving.withLock {
      guard map.store(store.identifier) == nil else {
        throw PersistentStoreError.alreadyAdded(identifier: store.identifier)
      }
      try follow()
      replaceStores(map.stores + [store])
    }
  }

  /// Removes and closes a store. Its file stays; a store in memory is gone.
  ///
  /// Waits for saves in progress. Objects of the store stay in their contexts with the values that they have; reading more of
  /// them fails, and so does a save that would write them:
  /// ``PersistentStoreError/notReachable(_:)``. Source: `remove(_:)` of Core Data.
  /// - Throws: ``PersistentStoreError/unknownStore(identifier:)``, or the store's error, such as when it is being read: then
  ///   it stays added.
  public func remove(_ store: PersistentStore) throws {
    try saving.withLock {
      try refuseInTransaction("remove a store")
      let stores = map.stores
      guard stores.contains(store) else { throw PersistentStoreError.unknownStore(identifier: store.identifier) }
      replaceStores(stores.filter { $0 != store })
      do {
        try store.content.close()
      } catch {
        replaceStores(stores)
        try followRemoteChanges(of: store.content)
        throw error
      }
    }
    postStoresDidChange(.removedStores, store)
  }

  private func replaceStores(_ stores: [PersistentStore]) {
    let map = StoreMap(model, stores)
    state.withLock { $0.map = map }
  }

  /// Closes every store, at the end of a program. Contexts of the coordinator can't read or save afterwards.
  public func close() throws {
    for store in persistentStores { try store.content.close() }
  }

  /// The stores, in the order of their addition. Source: `persistentStores` of Core Data.
  public var persistentStores: [PersistentStore] { map.stores }

  /// The current assignment of entities to stores.
  var map: StoreMap { state.withLock { $0.map } }

  /// The store at a URL; nil when the coordinator has none there. Source: `persistentStore(for:)` of Core Data.
  public func persistentStore(for url: URL) -> PersistentStore? {
    persistentStores.first { $0.url?.standardizedFileURL == url.standardizedFileURL }
  }

  /// The store that holds a saved object; nil while its ID is temporary, and when the coordinator doesn't have the store.
  ///
  /// Source: `persistentStore` of Core Data's `NSManagedObjectID`, where the ID knows its coordinator. Here an ID is a
  /// value that is the same under every coordinator that opens the store.
  public func persistentStore(for objectID: ManagedObjectID) -> PersistentStore? {
    objectID.storeIdentifier.flatMap(map.store)
  }

  /// The store that takes an entity's new objects, unless they are assigned to another.
  package func store(of entity: EntityDescription) throws -> PersistentStore { try map.first(of: entity) }

  /// The ID that a URI represents.
  /// - Returns: nil when the URI isn't of a store of this coordinator.
  public func managedObjectID(forURIRepresentation uri: String) -> ManagedObjectID? {
    let parts = uri.split(separator: "/", omittingEmptySubsequences: true)
    guard parts.count == 4, parts[0] == "x-coredata:", parts[3].first == "p", let number = Int64(parts[3].dropFirst()),
      let entity = model.entitiesByName[String(parts[2])],
      map.store(String(parts[1])) != nil
    else { return nil }
    return ManagedObjectID(scope: .of(entity, in: String(parts[1])), number: number)
  }

  /// The ID of the row with that number, whether or not it exists, in a store or in the entity's first one.
  /// - Throws: ``ManagedObjectError/unknownEntity(name:known:)`` or ``ManagedObjectError/noStore(entity:)``.
  package func managedObjectID(
    entity name: String, number: Int64, in store: PersistentStore? = nil
  ) throws -> ManagedObjectID {
    guard let entity = model.entitiesByName[name] else {
      throw ManagedObjectError.unknownEntity(name: name, known: model.entities.map(\.name))
    }
    let store = try store ?? self.store(of: entity)
    return ManagedObjectID(scope: .of(entity, in: store.identifier), number: number)
  }

  func temporaryScope(of entity: EntityDescription) -> IDScope { temporaryScopes[entity.index] }
}

extension PersistentStoreCoordinator: RoutingSource {
  func reader(of store: PersistentStore) throws -> (any StoreReader)? { store.content }

  func permanentIDs(for entities: [EntityDescription], in stores: [Int: PersistentStore]) throws -> [ManagedObjectID] {
    // An entity with a primary key gets its IDs from that attribute's values, when it is saved.
    var ids = entities.map { ManagedObjectID(scope: temporaryScope(of: $0), number: 0) }
    let wanting = entities.indices.filter { entities[$0].primaryKey == nil }
    let homes = try wanting.map { try stores[$0] ?? store(of: entities[$0]) }
    for (store, pairs) in Dictionary(grouping: zip(wanting, homes), by: \.1) {
      let places = pairs.map(\.0)
      let new = try store.content.permanentIDs(for: places.map { entities[$0] })
      for (place, id) in zip(places, new) { ids[place] = id }
    }
    return ids
  }
}

extension PersistentStoreCoordinator {
  /// Posted when a store was added or removed, on the thread that did it; `object` is the coordinator.
  ///
  /// Source: Core Data's `NSPersistentStoreCoordinatorStoresDidChange`.
  public static let storesDidChangeNotification = Notification.Name(
    "NSPersistentStoreCoordinatorStoresDidChangeNotification")

  /// Keys of the user info of ``storesDidChangeNotification``; the values are arrays of ``PersistentStore``.
  public enum NotificationKey: String, Sendable {
    /// Stores that were added: Core Data's `NSAddedPersistentStoresKey`.
    case addedStores = "added"
    /// Stores that were removed: Core Data's `NSRemovedPersistentStoresKey`.
    case removedStores = "removed"
  }

  func postStoresDidChange(_ key: NotificationKey, _ store: PersistentStore) {
    NotificationCenter.default.post(
      name: Self.storesDidChangeNotification, object: self, userInfo: [key.rawValue: [store]])
  }
}
