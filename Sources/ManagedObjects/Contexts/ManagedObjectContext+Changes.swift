import Synchronization

extension ManagedObjectContext {
  // MARK: Inserting

  /// Numbers temporary IDs downwards, over the whole process, so that contexts can share them.
  private static let lastTemporary = Atomic<Int64>(0)

  /// Inserts a new object of the entity of that name, with the model's defaults.
  /// - Throws: ``ManagedObjectError/unknownEntity(name:known:)``, ``ManagedObjectError/abstractEntity(name:)``.
  @discardableResult
  public func insert(_ entityName: String) throws -> ManagedObject { try insert(entity(entityName)) }

  /// Inserts a new object of the entity whose objects are of that class.
  /// - Throws: ``ManagedObjectError/unknownEntity(name:known:)`` when there is none,
  ///   ``ManagedObjectError/severalEntities(className:entities:)``, ``ManagedObjectError/abstractEntity(name:)``.
  @discardableResult
  public func insert<T: ManagedObject>(_ type: T.Type) throws -> T {
    // The entity's objects are of this class.
    unsafeDowncast(try insert(entity(of: type)), to: T.self)
  }

  /// What a new object of a class starts with, for its initializer. ``noteNew(_:)`` is to follow.
  /// - Throws: as ``insert(_:)-(T.Type)``.
  func placeOfNewObject(_ type: ManagedObject.Type) throws -> ObjectPlace {
    confinement.check()
    let entity = try entity(of: type)
    guard !entity.isAbstract else { throw ManagedObjectError.abstractEntity(name: entity.name) }
    let row = StoreRow(id: temporaryID(of: entity), values: entity.initialValues)
    return place(of: row, state: .inserted, isFault: false)
  }

  /// Registers an object that its class's initializer has made, and lets its class set defaults of its own.
  func noteNew(_ object: ManagedObject) {
    registry.add(object)
    noteInserted(object)
    if object.entity.hasOwnClass { object.awakeFromInsert() }
  }

  /// Inserts a new object of an entity of this context's model.
  package func insert(_ entity: EntityDescription) throws -> ManagedObject {
    try insert(entity, values: entity.initialValues)
  }

  /// Inserts a new object with all its values, as an import does, so that no attribute is set twice. References among the
  /// values must not have inverses that are registered; ``ManagedObject/point(_:to:)`` sets those.
  package func insert(_ entity: EntityDescription, values: ContiguousArray<Value>) throws -> ManagedObject {
    confinement.check()
    guard !entity.isAbstract else { throw ManagedObjectError.abstractEntity(name: entity.name) }
    if entity.hasOwnClass { return awakened(StoreRow(id: temporaryID(of: entity), values: values)) }
    return adopt(StoreRow(id: temporaryID(of: entity), values: values))
  }

  /// Inserts an object again under the permanent ID that it had, as the undo of a deletion does. The context must not have an
  /// object of that ID; if the store has, the save fails with a conflict.
  package func insert(
    _ entity: EntityDescription, values: ContiguousArray<Value>, as id: ManagedObjectID
  ) throws -> ManagedObject {
    confinement.check()
    guard !entity.isAbstract else { throw ManagedObjectError.abstractEntity(name: entity.name) }
    let row = StoreRow(id: id, values: values)
    return entity.hasOwnClass ? awakened(row) : adopt(row)
  }

  /// Inserts new objects, in order, as ``insert(_:values:)`` does for one.
  ///
  /// A closure delivers the values, because code that is generic over a collection isn't specialised for another module's
  /// type, which would cost a tenth of an import.
  package func insert(
    _ entity: EntityDescription, count: Int, values: (Int) -> ContiguousArray<Value>
  ) throws -> ContiguousArray<ManagedObject> {
    confinement.check()
    guard !entity.isAbstract else { throw ManagedObjectError.abstractEntity(name: entity.name) }
    let scope = persistentStoreCoordinator.temporaryScope(of: entity)
    var number = Self.temporaryNumbers(count)
    var objects = ContiguousArray<ManagedObject>()
    objects.reserveCapacity(count)
    changeSet.reserve(forInsertions: count)
    for index in 0..<count {
      number -= 1
      let row = StoreRow(id: ManagedObjectID(scope: scope, number: number), values: values(index))
      objects.append(entity.hasOwnClass ? awakened(row) : adopt(row))
    }
    return objects
  }

  /// Inserts a new object that may be of an abstract entity, which a save refuses: an import may find out its entity later.
  package func insertAlsoAbstract(_ entity: EntityDescription) -> ManagedObject {
    let row = StoreRow(id: temporaryID(of: entity), values: entity.initialValues)
    return entity.hasOwnClass ? awakened(row) : adopt(row)
  }

  /// Takes `count` numbers for temporary IDs: those below the result.
  static func temporaryNumbers(_ count: Int) -> Int64 {
    lastTemporary.subtract(Int64(count), ordering: .relaxed).oldValue
  }

  func temporaryID(of entity: EntityDescription) -> ManagedObjectID {
    let number = Self.lastTemporary.subtract(1, ordering: .relaxed).newValue
    return ManagedObjectID(scope: persistentStoreCoordinator.temporaryScope(of: entity), number: number)
  }

  /// Makes a new object with the ID and values given.
  func adopt(_ row: StoreRow) -> ManagedObject {
    let object = make(row, state: .inserted, isFault: false)
    noteInserted(object)
    return object
  }

  private func noteInserted(_ object: ManagedObject) {
    object.isChangePending = true
    object.isKnownAsInserted = true
    changeSet.insert(object)
    notifier.noteInserted(object)
  }

  /// Makes a new object whose class sets defaults of its own. Those of the given values that differ from the model's defaults
  /// replace them.
  func awakened(_ row: StoreRow) -> ManagedObject {
    let defaults = row.id.entity.initialValues
    let object = adopt(StoreRow(id: row.id, values: defaults))
    object.awakeFromInsert()
    guard object.state == .inserted else { return object }
    let values = row.values
    for slot in values.indices where values[slot] != defaults[slot] { object.slots[slot] = values[slot] }
    return object
  }

  /// Makes an object and registers it.
  func make(_ row: StoreRow, state: ManagedObject.State, isFault: Bool) -> ManagedObject {
    let object = row.id.scope.entity.objectClass.init(place(of: row, state: state, isFault: isFault))
    registry.add(object)
    return object
  }

  private func place(of row: StoreRow, state: ManagedObject.State, isFault: Bool) -> ObjectPlace {
    ObjectPlace(
      confinement: confinement, id: row.id, content: row.content, state: state, isFault: isFault, era: registry.era)
  }

  // MARK: Rows that children have inserted

  /// The objects by ID. Those that children have inserted are among them: objects are made of their rows first.
  var registry: ObjectRegistry {
    @inline(__always) get {
      if bareChangeSet.hasAdoptedRows { makeAdoptedObjects() }
      return bareRegistry
    }
  }

  /// The unsaved changes, with objects for all that children have inserted.
  var changeSet: ChangeSet {
    @inline(__always) get {
      if bareChangeSet.hasAdoptedRows { makeAdoptedObjects() }
      return bareChangeSet
    }
  }

  /// Whether rows that a child inserts may go without objects, because nothing here can notice.
  var adoptsRows: Bool {
    undoManager == nil && !bareRegistry.retainsObjects && !notifier.hasObservers
      && !(notifier.announcesInsertions && AnnouncedName.didChange.isWanted)
  }

  /// Takes rows that a child has inserted, without making objects of them.
  ///
  /// A context through which an import passes on its way to the store never looks at its objects. Whatever does look, by
  /// ``registry`` or ``changeSet``, finds objects.
  /// - Returns: false when objects are needed: classes, relationships, derived attributes and given numbers need them.
  func adopt(_ rows: [StoreRow]) -> Bool {
    guard adoptsRows, bareChangeSet.unsavedDeletions.isEmpty else { return false }
    // By index, because a copy of each row would count references.
    for place in rows.indices where place == 0 || rows[place].id.scope !== rows[place - 1].id.scope {
      let entity = rows[place].id.scope.entity
      guard rows[place].id.isTemporaryID, !entity.hasOwnClass, entity.relationships.isEmpty, entity.primaryKey == nil,
        !entity.attributes.contains(where: \.isDerived)
      else { return false }
    }
    bareChangeSet.adopt(rows)
    version.add(1, ordering: .relaxed)
    return true
  }

  /// Makes objects of the rows that children have inserted.
  func makeAdoptedObjects() {
    let rows = bareChangeSet.takeAdoptedRows()
    bareChangeSet.reserve(forInsertions: rows.count)
    bareRegistry.reserve(rows.count)
    for row in rows { adopt(row).isKnownToChildren = true }
  }

  // MARK: Inserting rows without objects

  /// Inserts rows without making objects for them. The next ``saveValidated()`` writes them and announces them like objects:
  /// with permanent IDs, their values and a notification.
  ///
  /// When that save fails with a conflict, the caller drops the rows by ``removeNewRows()``: a merge policy can only settle
  /// objects.
  /// - Returns: false when something needs the objects, or could: a class of their own, derived attributes, a set with rules
  ///   for its members or an owner of a class, a parent, children, observers or an undo manager. Nothing is inserted then.
  package func insert(_ new: NewRows) throws -> Bool {
    confinement.check()
    guard !new.entity.isAbstract else { throw ManagedObjectError.abstractEntity(name: new.entity.name) }
    guard !new.entity.hasOwnClass, !new.entity.joinsCheckedSets, !new.entity.attributes.contains(where: \.isDerived),
      parent == nil, children.isEmpty, readGate == nil, undoManager == nil, !announcesChanges, !notifier.hasObservers,
      persistentStoreCoordinator.persistentStores.count == 1
    else { return false }
    if new.count > 0 { changeSet.insert(new) }
    return true
  }

  /// Gives rows their permanent IDs before ``insert(_:)``, as ``obtainPermanentIDs(for:)`` does for objects.
  /// - Returns: the numbers of the IDs, in the order of the rows; nil when an attribute numbers them and one has no value.
  package func obtainNumbers(for new: NewRows) throws -> [Int64]? {
    confinement.check()
    if let key = new.entity.primaryKey {
      let cells = (0..<new.count).map { new.cell($0, key.slot) }
      return cells.allSatisfy { $0.kind == .int } ? cells.map(\.bits) : nil
    }
    try persistentStoreCoordinator.givePermanentIDs(to: new)
    return new.givenNumbers
  }

  /// Like ``obtainNumbers(for:)``, with the IDs themselves.
  package func obtainIDs(for new: NewRows) throws -> [ManagedObjectID]? {
    guard let numbers = try obtainNumbers(for: new), let store = persistentStoreCoordinator.persistentStores.first
    else {
      return nil
    }
    let scope = new.givenScope ?? IDScope.of(new.entity, in: store.identifier, isExact: true)
    return numbers.map { ManagedObjectID(scope: scope, number: $0) }
  }

  /// Drops the rows that were to be inserted.
  package func removeNewRows() {
    confinement.check()
    changeSet.removeNewRows()
  }

  // MARK: Deleting

  /// Marks an object for deletion by the next save.
  ///
  /// The model's delete rules are applied at the end of the `perform`, on ``processPendingChanges()`` and on a save; on a save
  /// only, if ``propagatesDeletesAtEndOfEvent`` is false. A rule that denies the deletion makes the save fail. An object that
  /// was never saved is a deleted object until then, like any other, and leaves the context when the rules are applied.
  /// Source: `delete(_:)` of Core Data.
  public func delete(_ object: ManagedObject) {
    confinement.check()
    precondition(object.confinement === confinement, "an object of another context: \(object.id)")
    if object.entity.hasOwnClass, !callbacks.prepareForDeletion(object) { return }
    if undoManager != nil, object.state != .deleted, object.state != .detached {
      if object.isUnfilled { fulfill(object) }
      // Its row is gone, and there is nothing to take back.
      if object.state == .deleted { return }
      if !object.isChangePending { noteChanged(object) }
      notifier.noteUndoableDeletion(of: object)
    }
    switch object.state {
    case .deleted, .detached: return
    case .inserted:
      object.state = .deleted
      object.deletion = .ofUnsaved
      changeSet.deleteUnsaved(object)
    case .updated, .clean:
      if object.committed.isEmpty, !object.isUnfilled { object.committed = object.slots }
      object.state = .deleted
      object.deletion = .ofRow
      changeSet.delete(object)
    }
    notifier.noteDeleted(object)
  }

  /// The objects that a relationship holds.
  func related(to object: ManagedObject, by relationship: RelationshipDescription) -> [ManagedObject] {
    if relationship.isToMany { return object.resolvedIDs(relationship).map { self.object(with: $0) } }
    guard case .object(let id) = object.value(at: relationship.slot) else { return [] }
    return [self.object(with: id)]
  }

  // MARK: Recording

  /// Records an object's first change since it was read or saved, and keeps its values from before.
  func noteFirstChange(_ object: ManagedObject) {
    // The owner of a set may change as a fault.
    if object.committed.isEmpty, !object.isUnfilled { object.committed = object.slots }
    if callbacks.isAwakening { return }
    noteChanged(object)
    object.state = .updated
    changeSet.update(object)
  }

  /// Records a change to be announced.
  func noteChanged(_ object: ManagedObject) {
    if callbacks.isAwakening || object.state == .detached { return }
    object.isChangePending = true
    notifier.noteUpdated(object)
  }

  // MARK: Changed objects

  /// Whether there is anything to save.
  public var hasChanges: Bool {
    confinement.check()
    return !bareChangeSet.isEmpty
  }

  /// The objects that the next save inserts, in the order of their insertion.
  public var insertedObjects: [ManagedObject] {
    confinement.check()
    return changeSet.insertions.filter { $0.state == .inserted }
  }

  /// The objects that have changed since the last save, in the order of their first change.
  public var updatedObjects: [ManagedObject] {
    confinement.check()
    return changeSet.updates.filter { $0.state == .updated }
  }

  /// The objects that the next save deletes, and those that were deleted before they were ever saved, until their delete rules
  /// are applied. Objects that were deleted elsewhere are among them until the end of the event that has merged the deletion.
  public var deletedObjects: [ManagedObject] {
    confinement.check()
    return Array(changeSet.deletions + changeSet.unsavedDeletions + changeSet.mergedDeletions)
  }

  /// The registered objects: those that the context knows.
  public var registeredObjects: [ManagedObject] {
    confinement.check()
    return registry.objects
  }

  /// The number of registered objects, without listing them. To be called on the context's queue.
  public var registeredObjectCount: Int {
    confinement.check()
    return registry.count
  }

  // MARK: Stores of new objects

  /// Assigns a new object to the store that it is saved to.
  ///
  /// Only needed where several stores hold the object's entity; by default, the store that was added first takes the object.
  /// May be called again until the object is saved or gets its permanent ID. A save into a parent context takes the
  /// assignment along. Objects that refer to each other must be in one store. On the context's queue.
  /// Source: `assign(_:to:)` of Core Data.
  /// - Throws: ``ManagedObjectError/foreignObject(_:)`` for an object of another context,
  ///   ``PersistentStoreError/unknownStore(identifier:)`` for a store of another coordinator,
  ///   ``PersistentStoreError/notHeld(entity:stores:)`` when the store's configuration doesn't have the entity, and
  ///   ``PersistentStoreError/notNew(_:)`` for an object that is in a store already.
  public func assign(_ object: ManagedObject, to store: PersistentStore) throws {
    confinement.check()
    takePromotedIDs()
    guard object.confinement === confinement else { throw ManagedObjectError.foreignObject(object.id) }
    guard persistentStoreCoordinator.persistentStores.contains(store) else {
      throw PersistentStoreError.unknownStore(identifier: store.identifier)
    }
    guard store.holds(object.entity) else {
      throw PersistentStoreError.notHeld(entity: object.entity.name, stores: [store.description])
    }
    guard object.state == .inserted, object.id.isTemporaryID else { throw PersistentStoreError.notNew(object.id) }
    changeSet.assign(object.id, to: store)
  }

  /// The store that an object is in or will be saved to; nil when there is none.
  func store(of id: ManagedObjectID) -> PersistentStore? {
    let coordinator = persistentStoreCoordinator
    guard id.isTemporaryID else { return coordinator.persistentStore(for: id) }
    if let store = changeSet.assignments[id] { return store }
    // A child may know a new object of its parent.
    if let parent { return parent.readForChild { parent in parent.store(of: parent.registry.currentID(id)) } }
    return coordinator.map.stores(of: id.entity, includesSubentities: false).first
  }

  /// Whether an object is in one of the stores that a fetch is for.
  func isAffected(_ id: ManagedObjectID, by fetch: StoreFetch) -> Bool {
    guard let affected = fetch.affectedStores else { return true }
    return store(of: id).map { affected.contains($0.identifier) } ?? false
  }

  /// The identifiers of the stores that a request names.
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
