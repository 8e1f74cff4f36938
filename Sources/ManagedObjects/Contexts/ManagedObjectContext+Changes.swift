import Synchronization

extension ManagedObjectContext {
  /// Numbers temporary IDs downwards, over the whole process so that contexts can share them.
  private static let lastTemporary = Atomic<Int64>(0)

  /// Inserts a new object of the entity of that name, with the model's defaults.
  /// - Throws: ``ManagedObjectError/unknownEntity(name:known:)``, ``ManagedObjectError/abstractEntity(name:)``.
  @discardableResult
  public func insert(_ entityName: String) throws -> ManagedObject { try insert(entity(entityName)) }

  /// Inserts a new object of the entity whose objects are of that class.
  @discardableResult
  public func insert<T: ManagedObject>(_ type: T.Type) throws -> T {
    guard let entity = model.entities.first(where: { $0.objectClass == type }) else {
      throw ManagedObjectError.unknownEntity(name: "\(type)", known: model.entities.map(\.name))
    }
    let object = try insert(entity)
    guard let typed = object as? T else {
      throw ManagedObjectError.unknownEntity(name: "\(type)", known: model.entities.map(\.name))
    }
    return typed
  }

  /// Inserts a new object of an entity of this context's model.
  package func insert(_ entity: EntityDescription) throws -> ManagedObject {
    try insert(entity, values: entity.initialValues)
  }

  /// Inserts a new object with all its values: an import's way, which sets no attribute twice. References among the
  /// values must not have inverses that the context knows; ``ManagedObject/point(_:to:)`` sets those.
  package func insert(_ entity: EntityDescription, values: ContiguousArray<Value>) throws -> ManagedObject {
    home.check()
    guard !entity.isAbstract else { throw ManagedObjectError.abstractEntity(name: entity.name) }
    if entity.hasOwnClass { return awakened(StoreRow(id: temporaryID(of: entity), values: values)) }
    return adopt(StoreRow(id: temporaryID(of: entity), values: values))
  }

  /// Inserts new objects, in order, as ``insert(_:values:)`` does for one.
  ///
  /// The values come by a closure and not as a collection: code that is generic over a collection isn't specialised for
  /// another module's, and costs a tenth of an import then.
  package func insert(
    _ entity: EntityDescription, count: Int, values: (Int) -> ContiguousArray<Value>
  ) throws -> ContiguousArray<ManagedObject> {
    home.check()
    guard !entity.isAbstract else { throw ManagedObjectError.abstractEntity(name: entity.name) }
    let scope = persistentStoreCoordinator.temporaryScope(of: entity)
    var number = Self.temporaryNumbers(count)
    var objects = ContiguousArray<ManagedObject>()
    objects.reserveCapacity(count)
    insertions.reserveCapacity(insertions.count + count)
    for index in 0..<count {
      number -= 1
      let row = StoreRow(id: ManagedObjectID(scope: scope, number: number), values: values(index))
      objects.append(entity.hasOwnClass ? awakened(row) : adopt(row))
    }
    return objects
  }

  /// Inserts a new object also of an abstract entity, which no save takes: an import may find out what it is later.
  func insertAlsoAbstract(_ entity: EntityDescription) -> ManagedObject {
    let row = StoreRow(id: temporaryID(of: entity), values: entity.initialValues)
    return entity.hasOwnClass ? awakened(row) : adopt(row)
  }

  /// Takes so many numbers for temporary IDs: those below the one that is returned.
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
    object.isChangePending = true
    insertions.append(object)
    if !row.id.scope.entity.relationships.isEmpty { hasRelatedInsertions = true }
    if announcesChanges || observers.mayHaveAny { pending.noteInserted(object) }
    return object
  }

  /// Whether there is anything to save.
  public var hasChanges: Bool {
    home.check()
    return !deletions.isEmpty || !newRows.isEmpty || insertions.contains { $0.state == .inserted }
      || updates.contains { $0.state == .updated }
  }

  /// The objects that the next save inserts, in the order of their insertion.
  public var insertedObjects: [ManagedObject] {
    home.check()
    return insertions.filter { $0.state == .inserted }
  }

  /// The objects changed since the last save, in the order of their first change.
  public var updatedObjects: [ManagedObject] {
    home.check()
    return updates.filter { $0.state == .updated }
  }

  /// The objects that the next save deletes.
  public var deletedObjects: [ManagedObject] {
    home.check()
    return Array(deletions)
  }

  /// The objects the context knows.
  public var registeredObjects: [ManagedObject] {
    home.check()
    return registry.objects
  }

  /// The number of objects that the context knows, without listing them. To be called on the context's queue.
  public var registeredObjectCount: Int {
    home.check()
    return registry.count
  }

  /// Keeps the values as they were before the first change since the object was read or saved.
  func noteFirstChange(_ object: ManagedObject) {
    if object.committed.isEmpty { object.committed = object.slots }
    if isAwakening { return }
    noteChanged(object)
    object.state = .updated
    updates.append(object)
  }

  func noteChanged(_ object: ManagedObject) {
    if isAwakening || object.state == .detached { return }
    object.isChangePending = true
    pending.noteUpdated(object)
  }

  /// Makes an object and registers it.
  func make(_ row: StoreRow, state: ManagedObject.State, isFault: Bool) -> ManagedObject {
    let place = ObjectPlace(home: home, id: row.id, values: row.values, state: state, isFault: isFault)
    let object = row.id.scope.entity.objectClass.init(place)
    registry.add(object)
    return object
  }
}
