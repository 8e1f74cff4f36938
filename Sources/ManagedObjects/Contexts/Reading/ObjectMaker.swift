import Spelling

/// Makes objects of a context from the rows of one fetch, which arrive one by one.
final class ObjectMaker {
  // Used for each row, and no access lasts while another begins: the compiler needn't check that at run time.
  private let context: ManagedObjectContext
  private let registry: ObjectRegistry
  private let confinement: QueueConfinement
  private let isPartial: Bool
  private let era: UInt16
  /// Whether the context had no objects before. No two rows of a fetch are the same, so nothing needs to be looked up then.
  private let isEmpty: Bool
  /// Whether the registry keeps the objects in order, because only this fetch registers any.
  private let isOnlyReader: Bool
  private let notesRows: Bool
  /// Whether the first row has yet to arrive. Before it, objects take the IDs that the parent may have given them while it was
  /// read, because the rows have those.
  @exclusivity(unchecked) private var awaitsRows = true
  /// The number of the latest save that the rows have seen, once they arrive.
  @exclusivity(unchecked) private var latestSave = Int64.max
  /// The entity of the last row, and its class.
  @exclusivity(unchecked) private var entity: EntityDescription?
  @exclusivity(unchecked) private var objectClass: ManagedObject.Type = ManagedObject.self
  @exclusivity(unchecked) private var hasOwnClass = false
  /// The objects so far, unless the registry keeps them.
  @exclusivity(unchecked) private var objects: [ManagedObject] = []
  /// The objects that have been filled now, where not all of them have.
  @exclusivity(unchecked) private var awakening: [ManagedObject] = []
  /// Whether objects that have values take on those of their rows. They do so once all rows are there, because that may read
  /// the store.
  private let refreshes: Bool
  private var refetched: [(row: StoreRow, object: ManagedObject)] = []

  init(_ context: ManagedObjectContext, _ fetch: StoreFetch?, count: Int = 0) {
    self.context = context
    registry = context.registry
    confinement = context.confinement
    isPartial = fetch?.slots != nil
    registry.noteVersion(context.sourceVersion)
    era = registry.era
    refreshes = fetch?.refreshesObjects == true && fetch?.slots == nil
    isEmpty = fetch != nil && registry.count == 0
    isOnlyReader = isEmpty && context.parent == nil
    notesRows = fetch?.slots == nil && context.fetchCache.keepsRows
    registry.prepare(for: count)
    if isOnlyReader { registry.beginReading() } else { objects.reserveCapacity(count) }
  }

  func take(_ row: consuming StoreRow) {
    if awaitsRows { beginRows() }
    if row.id.scope.entity !== entity { beginEntity(row.id.scope.entity) }
    if notesRows { context.fetchCache.note(row) }
    if !isEmpty, let (known, isAlone) = registry.objectAlone(with: row.id) {
      return take(row, into: known, isAlone)
    }
    let object = objectClass.init(
      ObjectPlace(
        confinement: confinement, id: row.id, content: row.content, state: .clean, isFault: isPartial,
        latestSave: latestSave, era: era))
    registry.addRead(object)
    if isOnlyReader { return }
    objects.append(object)
    if !isEmpty, !isPartial, hasOwnClass { awakening.append(object) }
  }

  private func take(_ row: StoreRow, into known: ManagedObject, _ isAlone: Bool) {
    objects.append(known)
    if context.take(row, into: known, isAlone, isPartial: isPartial) {
      if !isPartial, hasOwnClass { awakening.append(known) }
    } else if refreshes {
      refetched.append((row, known))
    }
  }

  private func beginRows() {
    context.takePromotedIDs()
    latestSave = context.rowSource.latestSave
    awaitsRows = false
  }

  private func beginEntity(_ next: EntityDescription) {
    entity = next
    objectClass = next.objectClass
    hasOwnClass = next.hasOwnClass
  }

  /// The objects, in the order of the rows. To be called once, even after an error.
  func finish() -> [ManagedObject] {
    if isOnlyReader { objects = registry.endReading() }
    // Once all are there, because their callbacks may touch the context.
    for (row, object) in refetched where object.state == .clean || object.state == .updated {
      context.update(object, from: row)
    }
    if isEmpty, !isPartial, context.model.hasOwnClasses {
      context.callbacks.awakeFromFetch(objects)
    } else if !awakening.isEmpty {
      context.callbacks.awakeFromFetch(awakening)
    }
    return objects
  }
}

/// The part of a fetch that reads from the store, used when there are no unsaved changes or they don't count. It may run on
/// any thread.
struct ObjectRead: Sendable {
  /// What the store returned.
  enum Result: Sendable {
    case rows([StoreRow])
    case ids([ManagedObjectID])
  }

  private(set) var fetch: StoreFetch
  let paths: [[RelationshipDescription]]
  /// The number of faults to fill at once; 0 for one by one.
  let batchSize: Int
  private let isOfIDs: Bool

  init<T: ManagedObject>(_ fetch: StoreFetch, _ request: FetchRequest<T>) throws {
    self.fetch = fetch
    paths = try request.prefetchPaths(in: fetch.entity)
    batchSize = request.fetchBatchSize
    isOfIDs = request.returnsObjectsAsFaults && (!request.includesPropertyValues || batchSize > 0)
    if !isOfIDs { self.fetch.slots = try request.slotsToRead(in: fetch.entity, paths) }
  }

  /// Whether it reads rows, all of which become objects at once.
  var isOfRows: Bool { !isOfIDs }

  func read(from source: any ObjectSource, _ monitor: FetchMonitor? = nil) throws -> Result {
    var fetch = fetch
    fetch.monitor = monitor
    return isOfIDs ? .ids(try source.ids(fetch)) : .rows(try source.rows(fetch))
  }
}

extension ManagedObjectContext {
  /// The objects that a request, bound as `fetch`, finds here.
  func objects<T: ManagedObject>(_ fetch: StoreFetch, _ request: FetchRequest<T>) throws -> [ManagedObject] {
    let read = try ObjectRead(fetch, request)
    if request.includesPendingChanges, changeSet.concerns(hierarchyOf: fetch.entity) {
      let objects = try fetchWithPendingChanges(fetch)
      if !read.paths.isEmpty { fetchCache.keep(try prefetch(read.paths, of: objects)) }
      return objects
    }
    guard read.isOfRows else { return try objects(try read.read(from: source), read) }
    // Each row becomes an object while the processor's cache still holds it.
    let maker = ObjectMaker(self, read.fetch)
    do {
      try eachRow(read.fetch) { maker.take($0) }
    } catch {
      // The objects made so far are registered, and have to be awakened.
      _ = maker.finish()
      throw error
    }
    let objects = maker.finish()
    if !read.paths.isEmpty { fetchCache.keep(try prefetch(read.paths, of: objects)) }
    return objects
  }

  /// Calls `take` with each row that the store has. Nothing else can be read until it returns: a class that reads while an
  /// object is made gets an error.
  private func eachRow(_ fetch: StoreFetch, _ take: (consuming StoreRow) -> Void) throws {
    guard parent == nil, model.hasOwnClasses else { return try source.eachRow(fetch, take) }
    mergeQueue.mailbox.noteRead()
    rowSource.noteRead()
    try rowSource.readExclusively { try $0.eachRow(fetch, take) }
  }

  /// The objects of the rows or IDs that were read.
  func objects(_ result: ObjectRead.Result, _ read: ObjectRead) throws -> [ManagedObject] {
    takePromotedIDs()
    let objects: [ManagedObject]
    switch result {
    case .rows(let rows): objects = materialize(rows, read.fetch)
    case .ids(let ids):
      if read.batchSize > 0 {
        fetchCache.addBatches(of: ids, size: read.batchSize, read.paths)
        return ids.map(fault)
      }
      objects = ids.map(fault)
    }
    if !read.paths.isEmpty { fetchCache.keep(try prefetch(read.paths, of: objects)) }
    return objects
  }

  /// The objects of the class that a request names. Objects of other classes are left out.
  func typed<T: ManagedObject>(_ objects: [ManagedObject], _ fetch: StoreFetch) -> [T] {
    guard fetch.brings(T.self) else { return objects.compactMap { $0 as? T } }
    // The entities' classes have been checked, so the objects needn't be. Arrays of references have the same layout.
    return unsafeBitCast(objects, to: [T].self)
  }

  /// Turns rows into this context's objects, or into partial faults when their fetch didn't read all slots.
  func materialize(_ rows: [StoreRow], _ fetch: StoreFetch? = nil) -> [ManagedObject] {
    let maker = ObjectMaker(self, fetch, count: rows.count)
    for row in rows { maker.take(row) }
    return maker.finish()
  }

  /// Gives a registered object the values of its row if they are newer. Returns whether it was filled.
  fileprivate func take(_ row: StoreRow, into object: ManagedObject, _ isAlone: Bool, isPartial: Bool) -> Bool {
    // Only the registry holds it: its values may be old, and nothing can notice that they change.
    if object.isUnfilled || (isAlone && object.state == .clean && !isPartial) {
      object.content = row.content
      object.isUnfilled = isPartial
      object.latestSave = rowSource.latestSave
      object.era = registry.era
      if object.state == .clean {
        if !object.committed.isEmpty { object.committed = [] }
      } else if !isPartial {
        noteFilled(object)
      }
      return true
    }
    return false
  }

  /// The object with that ID: the registered one, or else a fault. The ID must name the object's own entity.
  func fault(_ id: ManagedObjectID) -> ManagedObject { registry.object(with: id) ?? makeFault(id) }

  func makeFault(_ id: ManagedObjectID) -> ManagedObject {
    make(StoreRow(id: id, values: id.entity.faultValues), state: .clean, isFault: true)
  }

  /// Keeps the values of a changed object that was a fault until now: the owner of a set whose members have changed.
  func noteFilled(_ object: ManagedObject) {
    object.committed = object.slots
    // Before its first change it had these values.
    if object.isChangePending, undoManager != nil { notifier.noteFilled(object) }
  }

  /// Reads the rows of the objects that are faults or not registered, all at once.
  func fill(_ ids: some Collection<ManagedObjectID>) throws {
    var seen: Set<ManagedObjectID> = []
    let wanted = ids.filter { id in
      guard !id.isTemporaryID, seen.insert(id).inserted else { return false }
      guard let object = registry.object(with: id) else { return true }
      return object.isUnfilled && (object.state == .clean || object.state == .updated)
    }
    if !wanted.isEmpty { _ = materialize(try source.rows(with: wanted)) }
  }
}

extension StoreFetch {
  /// Whether every object that it finds is of the class.
  func brings<T: ManagedObject>(_ type: T.Type) -> Bool {
    if type == ManagedObject.self { return true }
    if !includesSubentities { return entity.objectClass is T.Type }
    return entity.selfAndDescendants.allSatisfy { $0.isAbstract || $0.objectClass is T.Type }
  }
}

extension ManagedObject {
  /// Forgets the values of a partial fault, which may be out of date.
  final func forgetPartialValues() {
    if isUnfilled { slots = entity.faultValues }
  }
}

extension FetchRequest {
  /// The slots of a partial fetch, with those that prefetching starts from; nil for all.
  fileprivate func slotsToRead(
    in entity: EntityDescription, _ paths: [[RelationshipDescription]]
  ) throws -> Set<Int>? {
    guard returnsObjectsAsFaults, let propertiesToFetch else { return nil }
    var slots: Set<Int> = []
    for property in propertiesToFetch {
      switch property {
      case .expression(let description): throw FetchRequestError.expressionOfObjects(description.name)
      case .property(let name):
        guard let property = entity.propertiesByName[name] else {
          let known = entity.properties.map(\.name)
          throw FetchPredicateError.unknownProperty(
            name: name, entity: entity.name, nearest: NearestName.of(name, among: known), known: known)
        }
        slots.insert(property.slot)
      }
    }
    for path in paths { if let first = path.first { slots.insert(first.slot) } }
    // A transient attribute isn't stored.
    for attribute in entity.attributes where attribute.isTransient { slots.remove(attribute.slot) }
    return slots
  }
}
