// Which stores hold which entities, computed whenever a store is added or removed, because every fetch and every save needs
// it. A permanent ID contains its store's identifier; a new object goes to the store that it is assigned to, or else to the
// first that holds its entity.

/// A coordinator's stores at one moment. Immutable, and safe from any thread.
final class StoreMap: Sendable {
  /// In the order of their addition.
  let stores: [PersistentStore]
  /// The places of the stores that new objects go to, by the entity's index: each the first that can be written.
  private let homes: [Int?]
  /// The stores that hold objects of an entity, by its index.
  private let ofEntity: [[PersistentStore]]
  /// The stores that hold objects of an entity or of one that inherits from it, by its index.
  private let ofFamily: [[PersistentStore]]

  init(_ model: ManagedObjectModel, _ stores: [PersistentStore]) {
    self.stores = stores
    let places = model.entities.map { entity in stores.indices.filter { stores[$0].holds(entity) } }
    homes = places.map { places in places.first { !stores[$0].isReadOnly } ?? places.first }
    ofEntity = places.map { places in places.map { stores[$0] } }
    ofFamily = model.entities.map { entity in
      let family = entity.selfAndDescendants
      return stores.filter { store in family.contains { store.holds($0) } }
    }
  }

  /// The stores in which a fetch may find rows.
  func stores(of entity: EntityDescription, includesSubentities: Bool) -> [PersistentStore] {
    (includesSubentities ? ofFamily : ofEntity)[entity.index]
  }

  /// The store for new objects of an entity that aren't assigned to another.
  func first(of entity: EntityDescription) throws -> PersistentStore {
    stores[try firstPlace(of: entity)]
  }

  func firstPlace(of entity: EntityDescription) throws -> Int {
    guard let place = homes[entity.index] else { throw ManagedObjectError.noStore(entity: entity.name) }
    return place
  }

  /// The store with that identifier.
  func store(_ identifier: String) -> PersistentStore? { stores.first { $0.identifier == identifier } }

  /// The store that holds a saved object.
  func store(holding id: ManagedObjectID) throws -> PersistentStore { stores[try place(holding: id)] }

  func place(holding id: ManagedObjectID) throws -> Int {
    guard let place = stores.firstIndex(where: { $0.identifier == id.scope.storeIdentifier }) else {
      throw PersistentStoreError.notReachable(id)
    }
    return place
  }
}

/// Finds the stores of many rows, with a cache of the last one: consecutive rows are mostly of the same entity and store.
struct StoreFinder {
  let map: StoreMap
  let assignments: [ManagedObjectID: PersistentStore]
  // Scopes are never freed (see `IDScope`), so an uncounted reference to one stays valid. Counting would cost as much as the
  // look-up, for each row of a save.
  private unowned(unsafe) var lastScope: IDScope?
  private var lastPlace = 0

  init(_ map: StoreMap, _ assignments: [ManagedObjectID: PersistentStore]) {
    self.map = map
    self.assignments = assignments
  }

  /// The position of the store that an object is in or will be saved to.
  mutating func place(of id: ManagedObjectID) throws -> Int {
    if !assignments.isEmpty, id.isTemporaryID, let store = assignments[id] {
      guard let place = map.stores.firstIndex(where: { $0 === store }) else {
        throw PersistentStoreError.unknownStore(identifier: store.identifier)
      }
      return place
    }
    if let lastScope, lastScope === id.scope { return lastPlace }
    let place = id.isTemporaryID ? try map.firstPlace(of: id.entity) : try map.place(holding: id)
    lastScope = id.scope
    lastPlace = place
    return place
  }
}
