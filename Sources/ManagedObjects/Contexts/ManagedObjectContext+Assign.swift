// Which store a new object is saved to is noted beside the objects, by their temporary IDs: few programs ask for it. A note
// goes up with its object when a child is saved, and is forgotten when the object has its permanent ID, which says the
// store.

extension ManagedObjectContext {
  /// Says which store a new object goes to when it is saved, or when it is given its permanent ID before.
  ///
  /// Only needed where several stores hold the object's entity: without it the one that was added first takes the object.
  /// May be called again until then; a save into a parent context takes it along. Objects that refer to each other must
  /// be in one store. On the context's queue. Source: `assign(_:to:)` of Core Data.
  /// - Throws: ``ManagedObjectError/foreignObject(_:)`` for an object of another context,
  ///   ``PersistentStoreError/unknownStore(identifier:)`` for a store of another coordinator,
  ///   ``PersistentStoreError/notHeld(entity:stores:)`` when the store's configuration hasn't got the entity, and
  ///   ``PersistentStoreError/notNew(_:)`` for an object that has its store already.
  public func assign(_ object: ManagedObject, to store: PersistentStore) throws {
    home.check()
    takePromotedIDs()
    guard object.home === home else { throw ManagedObjectError.foreignObject(object.id) }
    guard persistentStoreCoordinator.persistentStores.contains(store) else {
      throw PersistentStoreError.unknownStore(identifier: store.identifier)
    }
    guard store.holds(object.entity) else {
      throw PersistentStoreError.notHeld(entity: object.entity.name, stores: [store.description])
    }
    guard object.state == .inserted, object.id.isTemporaryID else { throw PersistentStoreError.notNew(object.id) }
    assignments[object.id] = store
  }

  /// Forgets where objects were to go that have gone there.
  func forgetAssignments() {
    // What was taken back can come again, where there is an undo manager.
    if undoManager == nil { assignments.removeAll() }
  }

  /// The store that an object is in, or goes to; nil when there is none.
  func store(of id: ManagedObjectID) -> PersistentStore? {
    let coordinator = persistentStoreCoordinator
    guard id.isTemporaryID else { return coordinator.persistentStore(for: id) }
    if let store = assignments[id] { return store }
    // A child may know a new object of its parent's.
    if let parent { return parent.readForChild { parent.store(of: parent.permanentIDs[id] ?? id) } }
    return coordinator.map.stores(of: id.entity, includesSubentities: false).first
  }

  /// Whether an object is in one of the stores that a fetch is for.
  func isAffected(_ id: ManagedObjectID, by fetch: StoreFetch) -> Bool {
    guard let affected = fetch.affectedStores else { return true }
    return store(of: id).map { affected.contains($0.identifier) } ?? false
  }

  /// The identifiers of stores that a request names.
  /// - Throws: ``PersistentStoreError/unknownStore(identifier:)``.
  func identifiers(of stores: [PersistentStore]?) throws -> Set<String>? {
    guard let stores else { return nil }
    let known = persistentStoreCoordinator.persistentStores
    if let other = stores.first(where: { !known.contains($0) }) {
      throw PersistentStoreError.unknownStore(identifier: other.identifier)
    }
    return Set(stores.map(\.identifier))
  }
}
