import OrderedCollections

extension ManagedObjectContext {
  /// The objects that a request finds, with unsaved changes of this context taken into account unless the request says
  /// otherwise.
  ///
  /// Objects that the context holds already keep their values, unless the request says
  /// ``FetchRequest/shouldRefreshRefetchedObjects``; the others take those of the store.
  /// Source: `fetch(_:)` of Core Data.
  /// - Throws: an unknown entity, a predicate, sort key or property that doesn't fit the entity, or the store's error.
  public func fetch<T: ManagedObject>(_ request: FetchRequest<T>) throws -> [T] {
    home.check()
    mergeWaitingSaves()
    takePromotedIDs()
    try throwDeferredError()
    let fetch = try bind(request)
    return typed(try objects(fetch, request), fetch)
  }

  /// How many objects a request finds.
  public func count<T: ManagedObject>(for request: FetchRequest<T>) throws -> Int {
    home.check()
    mergeWaitingSaves()
    takePromotedIDs()
    try throwDeferredError()
    let fetch = try bind(request)
    return request.includesPendingChanges ? try count(fetch) : try source.count(fetch)
  }

  /// The IDs of the objects that a request finds, in order: those of new objects are temporary.
  ///
  /// Nothing but IDs is read, and no object is made, unless the context has changes to take into account.
  /// Source: `NSFetchRequestResultType.managedObjectIDResultType` of Core Data.
  public func fetchIDs<T: ManagedObject>(_ request: FetchRequest<T>) throws -> [ManagedObjectID] {
    home.check()
    mergeWaitingSaves()
    takePromotedIDs()
    try throwDeferredError()
    let fetch = try bind(request)
    return request.includesPendingChanges ? try ids(fetch) : try source.ids(fetch)
  }

  /// Binds a request's names to the model's properties.
  func bind<T: ManagedObject>(_ request: FetchRequest<T>) throws -> StoreFetch {
    let entity = try entity(request.entityName)
    var fetch = StoreFetch(
      entity: entity, includesSubentities: request.includesSubentities,
      predicate: try request.predicate?.resolved(in: entity),
      sort: try request.sortDescriptors.map { try $0.resolved(in: entity) },
      limit: request.fetchLimit, offset: request.fetchOffset)
    try fetch.predicate?.checkStored()
    for sort in fetch.sort { try sort.path.checkStored() }
    fetch.refreshesObjects = request.shouldRefreshRefetchedObjects
    fetch.affectedStores = try identifiers(of: request.affectedStores)
    return fetch
  }

  /// The rows that a request finds in the store, without making objects of them.
  package func rows<T: ManagedObject>(for request: FetchRequest<T>) throws -> [StoreRow] {
    home.check()
    return try source.rows(bind(request))
  }

  /// What `fetch` finds here, changes included, as rows: what a child context asks for.
  func rows(_ fetch: StoreFetch) throws -> [StoreRow] {
    var fetch = fetch
    fetch.slots = nil
    guard hasPendingChanges(of: fetch.entity) else { return try materialize(source.rows(fetch), fetch).map(\.row) }
    return try fetchWithPendingChanges(fetch).map(\.row)
  }

  /// How many objects `fetch` finds here, changes included.
  func count(_ fetch: StoreFetch) throws -> Int {
    try hasPendingChanges(of: fetch.entity) ? fetchWithPendingChanges(fetch).count : source.count(fetch)
  }

  /// The IDs of what `fetch` finds here, changes included.
  func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] {
    try hasPendingChanges(of: fetch.entity) ? fetchWithPendingChanges(fetch).map(\.id) : source.ids(fetch)
  }

  func hasPendingChanges(of entity: EntityDescription) -> Bool {
    let concerns = { (object: ManagedObject) in object.entity.rootEntity === entity.rootEntity }
    return insertions.contains(where: concerns) || updates.contains(where: concerns)
      || deletions.contains(where: concerns)
  }

  /// Fetches what matches in the store, leaves out what no longer matches here, adds what matches only here, and sorts
  /// and cuts the result in memory. Of a page everything up to its end is read, and a row more for each that may drop
  /// out or move back because it was changed or deleted here.
  func fetchWithPendingChanges(_ fetch: StoreFetch) throws -> [ManagedObject] {
    var whole = fetch
    whole.offset = 0
    let (end, isTooLarge) = fetch.end.addingReportingOverflow(updates.count + deletions.count)
    whole.limit = fetch.end == 0 || isTooLarge ? 0 : end
    let stored = try materialize(source.rows(whole), whole)
    let belongs = { (object: ManagedObject) in
      fetch.includesSubentities ? object.entity.isKindOf(fetch.entity) : object.entity === fetch.entity
    }
    let matches = { (object: ManagedObject) in fetch.predicate?.evaluate(on: object) ?? true }
    var found = stored.filter { object in
      switch object.state {
      case .clean: return true
      case .inserted, .updated: return matches(object)
      case .deleted, .detached: return false
      }
    }
    var known = Set(found.map(ObjectIdentifier.init))
    for object in insertions + updates where object.state == .inserted || object.state == .updated {
      guard belongs(object), isAffected(object.id, by: fetch), matches(object),
        known.insert(ObjectIdentifier(object)).inserted
      else { continue }
      found.append(object)
    }
    // Without a sort, pages count along the objects' numbers.
    if !fetch.sort.isEmpty || fetch.limit > 0 || fetch.offset > 0 {
      found.sort { fetch.sort.areInIncreasingOrder($0, $1) }
    }
    let tail = found.dropFirst(fetch.offset)
    return Array(fetch.limit > 0 ? tail.prefix(fetch.limit) : tail)
  }
}

extension ManagedObject {
  /// The object as a row for a child context.
  var row: StoreRow {
    if isUnfilled { home.context?.fulfill(self) }
    return StoreRow(id: id, values: slots)
  }
}

extension ManagedObject: PredicateSubject {
  package final var subjectID: ManagedObjectID { id }
  package final func value(inSlot slot: Int) -> Value { value(at: slot) }
  package final func subject(inSlot slot: Int) -> (any PredicateSubject)? { object(slot) as ManagedObject? }
  package final func subjects(inSlot slot: Int) -> [any PredicateSubject] {
    if let relationship = entity.properties[slot] as? RelationshipDescription, relationship.isOrdered {
      return Array(orderedObjects(slot) as OrderedSet<ManagedObject>)
    }
    return Array(objects(slot) as Set<ManagedObject>)
  }
}
