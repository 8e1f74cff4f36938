/// What a fetch of objects reads, once it is clear that unsaved changes don't count or that there are none. It can be
/// read anywhere.
struct ObjectRead: Sendable {
  /// What it brings.
  enum Result: Sendable {
    case rows([StoreRow])
    case ids([ManagedObjectID])
  }

  private(set) var fetch: StoreFetch
  let paths: [[RelationshipDescription]]
  /// How many faults are filled at once; 0 for one by one.
  let batchSize: Int
  private let isOfIDs: Bool

  init<T: ManagedObject>(_ fetch: StoreFetch, _ request: FetchRequest<T>) throws {
    self.fetch = fetch
    paths = try request.prefetchPaths(in: fetch.entity)
    batchSize = request.fetchBatchSize
    isOfIDs = request.returnsObjectsAsFaults && (!request.includesPropertyValues || batchSize > 0)
    if !isOfIDs { self.fetch.slots = try request.slotsToRead(in: fetch.entity, paths) }
  }

  /// Whether it brings rows, all of which become objects at once.
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
    if request.includesPendingChanges, hasPendingChanges(of: fetch.entity) {
      let objects = try fetchWithPendingChanges(fetch)
      if !read.paths.isEmpty { keep(try prefetch(read.paths, of: objects)) }
      return objects
    }
    guard read.isOfRows else { return try objects(try read.read(from: source), read) }
    // Each row becomes an object while the processor still has it at hand: what was read long ago has to come from memory
    // once more.
    let making = ObjectMaking(self, read.fetch)
    do {
      try eachRow(read.fetch) { making.take($0) }
    } catch {
      // Those that were made are known here, and have to be told that they were read.
      _ = making.finish()
      throw error
    }
    let objects = making.finish()
    if !read.paths.isEmpty { keep(try prefetch(read.paths, of: objects)) }
    return objects
  }

  /// Calls `take` with each row that the store has. Meanwhile nothing else can be read of it: a class that does so when an
  /// object is made is told.
  private func eachRow(_ fetch: StoreFetch, _ take: (consuming StoreRow) -> Void) throws {
    guard parent == nil, model.hasOwnClasses else { return try source.eachRow(fetch, take) }
    let store = source
    source = SourceInUse()
    defer { source = store }
    try store.eachRow(fetch, take)
  }

  /// The objects of what was read.
  func objects(_ result: ObjectRead.Result, _ read: ObjectRead) throws -> [ManagedObject] {
    takePromotedIDs()
    let objects: [ManagedObject]
    switch result {
    case .rows(let rows): objects = materialize(rows, read.fetch)
    case .ids(let ids):
      if read.batchSize > 0 {
        faultBatches.add(ids, size: read.batchSize, read.paths)
        return ids.map(fault)
      }
      objects = ids.map(fault)
    }
    if !read.paths.isEmpty { keep(try prefetch(read.paths, of: objects)) }
    return objects
  }

  /// Objects as the class that a request names. Those of another class are left out.
  func typed<T: ManagedObject>(_ objects: [ManagedObject], _ fetch: StoreFetch) -> [T] {
    guard fetch.brings(T.self) else { return objects.compactMap { $0 as? T } }
    // One look at the entities' classes, rather than one at each object's; arrays of references are all alike.
    return unsafeBitCast(objects, to: [T].self)
  }

  /// Turns rows into this context's objects; into partial faults, when the fetch that they are of didn't read all slots.
  func materialize(_ rows: [StoreRow], _ fetch: StoreFetch? = nil) -> [ManagedObject] {
    let making = ObjectMaking(self, fetch, count: rows.count)
    for row in rows { making.take(row) }
    return making.finish()
  }

  /// Gives an object that is known the values of its row if it wants them. Returns whether it is no fault any more, or was
  /// filled anew.
  fileprivate func take(_ row: StoreRow, into object: ManagedObject, _ isAlone: Bool, isPartial: Bool) -> Bool {
    // Nobody but the registry holds it: its values may be old, and no one can tell that they change.
    if object.isUnfilled || (isAlone && object.state == .clean && !isPartial) {
      object.slots = row.values
      object.isUnfilled = isPartial
      if object.state == .clean, !object.committed.isEmpty { object.committed = [] }
      return true
    }
    return false
  }

  /// The object with that ID: the one known here, or else a fault. The ID says the object's own entity.
  func fault(_ id: ManagedObjectID) -> ManagedObject { registry.object(with: id) ?? makeFault(id) }

  func makeFault(_ id: ManagedObjectID) -> ManagedObject {
    make(StoreRow(id: id, values: id.entity.faultValues), state: .clean, isFault: true)
  }

  /// Reads the rows of those objects that haven't got them, all at once.
  func fill(_ ids: some Collection<ManagedObjectID>) throws {
    var seen: Set<ManagedObjectID> = []
    let wanted = ids.filter { id in
      guard !id.isTemporaryID, seen.insert(id).inserted else { return false }
      guard let object = registry.object(with: id) else { return true }
      return object.isUnfilled && object.state == .clean
    }
    if !wanted.isEmpty { _ = materialize(try source.rows(with: wanted)) }
  }
}

/// A context's objects on their way from the rows of one fetch, which come one after the other.
final class ObjectMaking {
  private let context: ManagedObjectContext
  private let fetch: StoreFetch?
  private let isPartial: Bool
  /// Whether the context knew nothing before. No two rows of a fetch are the same: nothing needs to be looked up then.
  private let isEmpty: Bool
  private let notesRows: Bool
  /// Whether the first row is still to come, before which objects take the IDs that the parent may have given them while
  /// it was asked: the rows have those.
  private var awaitsIDs: Bool
  @exclusivity(unchecked) private var objects: [ManagedObject] = []
  /// Those that have been read now, where not all of them have.
  private var awakening: [ManagedObject] = []
  /// Whether objects that have values take on those of their rows: when all rows are there, for that may read the store.
  private let refreshes: Bool
  private var refetched: [(row: StoreRow, object: ManagedObject)] = []

  init(_ context: ManagedObjectContext, _ fetch: StoreFetch?, count: Int = 0) {
    self.context = context
    self.fetch = fetch
    isPartial = fetch?.slots != nil
    refreshes = fetch?.refreshesObjects == true && fetch?.slots == nil
    isEmpty = fetch != nil && context.registry.count == 0
    notesRows = fetch?.slots == nil && context.rowCache.interval != 0
    awaitsIDs = context.promotions != nil
    context.registry.prepare(for: count)
    objects.reserveCapacity(count)
  }

  func take(_ row: consuming StoreRow) {
    let entity = row.id.scope.entity
    if awaitsIDs {
      context.takePromotedIDs()
      awaitsIDs = false
    }
    if notesRows { context.rowCache.note(row) }
    if !isEmpty, let (known, isAlone) = context.registry.objectAlone(with: row.id) {
      objects.append(known)
      guard context.take(row, into: known, isAlone, isPartial: isPartial) else {
        if refreshes { refetched.append((row, known)) }
        return
      }
      if !isPartial, entity.hasOwnClass { awakening.append(known) }
      return
    }
    let object = entity.objectClass.init(
      ObjectPlace(home: context.home, id: row.id, values: row.values, state: .clean, isFault: isPartial))
    context.registry.addRead(object)
    objects.append(object)
    if !isEmpty, !isPartial, entity.hasOwnClass { awakening.append(object) }
  }

  /// The objects, in the order of the rows.
  func finish() -> [ManagedObject] {
    // Once all are there, for what they say may touch the context.
    for (row, object) in refetched where object.state == .clean || object.state == .updated {
      context.takeIn(row, object)
    }
    if isEmpty, !isPartial, context.model.hasOwnClasses {
      context.awakeFromFetch(objects)
    } else if !awakening.isEmpty {
      context.awakeFromFetch(awakening)
    }
    return objects
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
  /// Lets go of what a partial fault has read: it may not be so any more.
  final func forgetPartialValues() {
    if isUnfilled { slots = entity.faultValues }
  }
}

extension FetchRequest {
  /// The slots of a partial fetch; nil for all. What prefetching starts from is read, too.
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
    // Without values of its own a transient attribute is as it always is.
    for attribute in entity.attributes where attribute.isTransient { slots.remove(attribute.slot) }
    return slots
  }
}
