// Which of a coordinator's stores hold what, worked out once whenever a store is added or removed: every fetch and every
// save asks. A permanent ID says its store by its identifier; a new object goes to the store that it is assigned to, or
// else to the first that holds its entity.

/// A coordinator's stores at one moment. Immutable, and safe from any thread.
final class StoreMap: Sendable {
  /// In the order of their addition.
  let stores: [PersistentStore]
  /// The places of the stores that hold an entity's objects, by the entity's index.
  private let places: [[Int]]
  /// The stores that hold objects of an entity, by its index.
  private let ofEntity: [[PersistentStore]]
  /// The stores that hold objects of an entity or of one that inherits from it, by its index.
  private let ofFamily: [[PersistentStore]]

  init(_ model: ManagedObjectModel, _ stores: [PersistentStore]) {
    self.stores = stores
    places = model.entities.map { entity in stores.indices.filter { stores[$0].holds(entity) } }
    ofEntity = places.map { places in places.map { stores[$0] } }
    ofFamily = model.entities.map { entity in
      let family = entity.selfAndDescendants
      return stores.filter { store in family.contains { store.holds($0) } }
    }
  }

  /// The stores that a fetch may find something in.
  func stores(of entity: EntityDescription, includesSubentities: Bool) -> [PersistentStore] {
    (includesSubentities ? ofFamily : ofEntity)[entity.index]
  }

  /// The store that new objects of an entity go to, as long as they aren't assigned to another.
  func first(of entity: EntityDescription) throws -> PersistentStore {
    guard let store = ofEntity[entity.index].first else { throw ManagedObjectError.noStore(entity: entity.name) }
    return store
  }

  func firstPlace(of entity: EntityDescription) throws -> Int {
    guard let place = places[entity.index].first else { throw ManagedObjectError.noStore(entity: entity.name) }
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

/// Finds the stores of many rows: rows in sequence are mostly of the same one.
struct StoreFinder {
  let map: StoreMap
  let assignments: [ManagedObjectID: PersistentStore]
  private unowned(unsafe) var lastScope: IDScope?
  private var lastPlace = 0

  init(_ map: StoreMap, _ assignments: [ManagedObjectID: PersistentStore]) {
    self.map = map
    self.assignments = assignments
  }

  /// The place of the store that an object is in or goes to.
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
