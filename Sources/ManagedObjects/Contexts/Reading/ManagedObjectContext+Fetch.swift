import OrderedCollections

extension ManagedObjectContext {
  /// The objects that a request finds. Unsaved changes of this context are taken into account unless the request says
  /// otherwise.
  ///
  /// Objects that the context holds already keep their values, unless the request has
  /// ``FetchRequest/shouldRefreshRefetchedObjects``. The others get those of the store.
  /// Source: `fetch(_:)` of Core Data.
  /// - Throws: an unknown entity, a predicate, sort key or property that doesn't fit the entity, or the store's error.
  public func fetch<T: ManagedObject>(_ request: FetchRequest<T>) throws -> [T] {
    try prepareToRead()
    let fetch = try bind(request)
    return typed(try objects(fetch, request), fetch)
  }

  /// How many objects a request finds.
  public func count<T: ManagedObject>(for request: FetchRequest<T>) throws -> Int {
    try prepareToRead()
    let fetch = try bind(request)
    return request.includesPendingChanges ? try count(fetch) : try source.count(fetch)
  }

  /// The IDs of the objects that a request finds, in order. Those of new objects are temporary.
  ///
  /// Only IDs are read, and no object is made, unless the context has changes to take into account.
  /// Source: `NSFetchRequestResultType.managedObjectIDResultType` of Core Data.
  public func fetchIDs<T: ManagedObject>(_ request: FetchRequest<T>) throws -> [ManagedObjectID] {
    try prepareToRead()
    let fetch = try bind(request)
    return request.includesPendingChanges ? try ids(fetch) : try source.ids(fetch)
  }

  /// What precedes every read by a request: objects have the IDs that a parent gave them, and an error that had to wait is
  /// thrown.
  func prepareToRead() throws {
    confinement.check()
    takePromotedIDs()
    try throwDeferredError()
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
    fetch.skipsLockedRows = request.skipsLockedRows
    fetch.affectedStores = try identifiers(of: request.affectedStores)
    return fetch
  }

  /// The rows that a request finds in the store, without making objects of them.
  package func rows<T: ManagedObject>(for request: FetchRequest<T>, slots: Set<Int>? = nil) throws -> [StoreRow] {
    confinement.check()
    var fetch = try bind(request)
    fetch.slots = slots
    return try source.rows(fetch)
  }

  /// The rows that `fetch` finds here, changes included, for a child context.
  func rows(_ fetch: StoreFetch) throws -> [StoreRow] {
    var fetch = fetch
    fetch.slots = nil
    guard changeSet.concerns(hierarchyOf: fetch.entity) else {
      return try materialize(source.rows(fetch), fetch).map(\.row)
    }
    return try fetchWithPendingChanges(fetch).map(\.row)
  }

  /// How many objects `fetch` finds here, changes included.
  func count(_ fetch: StoreFetch) throws -> Int {
    try changeSet.concerns(hierarchyOf: fetch.entity) ? fetchWithPendingChanges(fetch).count : source.count(fetch)
  }

  /// The IDs of the objects that `fetch` finds here, changes included.
  func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] {
    try changeSet.concerns(hierarchyOf: fetch.entity) ? fetchWithPendingChanges(fetch).map(\.id) : source.ids(fetch)
  }

  /// Fetches the objects that match in the store, leaves out those that no longer match here, adds those that match only
  /// here, and sorts and cuts the result in memory. For a page, everything up to its end is read, plus one row for each that
  /// may drop out or move back because it was changed or deleted here.
  func fetchWithPendingChanges(_ fetch: StoreFetch) throws -> [ManagedObject] {
    try fillChangedFaults()
    var whole = fetch
    whole.offset = 0
    let (end, isTooLarge) = fetch.end.addingReportingOverflow(
      changeSet.updates.count + changeSet.deletions.count)
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
    for object in changeSet.insertionsAndUpdates where object.state == .inserted || object.state == .updated {
      guard belongs(object), isAffected(object.id, by: fetch), matches(object),
        known.insert(ObjectIdentifier(object)).inserted
      else { continue }
      found.append(object)
    }
    // Without a sort, pages count along the objects' numbers.
    if !fetch.sort.isEmpty || fetch.limit > 0 || fetch.offset > 0 {
      found = fetch.sort.sorted(found)
    }
    let tail = found.dropFirst(fetch.offset)
    return Array(fetch.limit > 0 ? tail.prefix(fetch.limit) : tail)
  }

  // MARK: Dictionaries and rows

  /// A dictionary for each row that a request finds, or for each group of rows, with the properties that the request names.
  ///
  /// The stores are read as they are: unsaved changes of this context or of its parents don't count.
  /// Source: `NSFetchRequestResultType.dictionaryResultType` of Core Data, whose documentation says the same under
  /// `includesPendingChanges`. Beyond Core Data, groups can be sorted by aggregates.
  /// - Throws: ``FetchRequestError`` when the parts of the request don't fit together, an unknown entity, a key path that
  ///   doesn't fit it, or the store's error.
  public func fetchDictionaries<T: ManagedObject>(_ request: FetchRequest<T>) throws -> [FetchedDictionary] {
    let plan = try dictionaryPlan(request)
    let columns = FetchedDictionary.Columns(plan.names)
    var rows = try source.dictionaries(plan.query)
    if !plan.conversions.isEmpty {
      for row in rows.indices { plan.convert(&rows[row]) }
    }
    return rows.map { FetchedDictionary(columns, $0) }
  }

  /// Calls `take` with the values of each row that a request finds, in order, as the store reads it: the content of
  /// ``fetchDictionaries(_:)``, but never more than one row at a time. The values stand in the order of the request's columns
  /// and are valid until `take` returns.
  ///
  /// A context that is pinned to a query generation reads one state of the store from the first row to the last, and may
  /// read that state within `take`. A context that isn't pinned must not read there.
  /// - Throws: what ``fetchDictionaries(_:)`` throws; what `take` throws, which ends the fetch.
  package func eachDictionary<T: ManagedObject>(
    _ request: FetchRequest<T>, _ take: (ContiguousArray<Value>) throws -> Void
  ) throws {
    let plan = try dictionaryPlan(request)
    if plan.conversions.isEmpty { return try source.eachDictionary(plan.query, take) }
    try source.eachDictionary(plan.query) { row in
      var row = row
      plan.convert(&row)
      try take(row)
    }
  }

  /// What the stores are asked for a request's dictionaries.
  private func dictionaryPlan<T: ManagedObject>(_ request: FetchRequest<T>) throws -> DictionaryPlan {
    try prepareToRead()
    var unsorted = request
    unsorted.sortDescriptors = []
    let (query, names, types) = try request.query(bind(unsorted))
    let conversions = types.indices.filter { types[$0] != .undefined }.map { (column: $0, type: types[$0]) }
    return DictionaryPlan(query: query, names: names, conversions: conversions)
  }

  /// The rows at the other end of a to-many relationship of several saved objects, in order for each if the relationship is
  /// ordered. Unsaved changes don't count.
  package func relatedRows(
    of ids: [ManagedObjectID], _ relationship: RelationshipDescription
  ) throws -> [RelatedRow] {
    confinement.check()
    return try source.relatedRows(of: ids, relationship)
  }

  /// Those of the rows that exist, in any order, as the store has them; for a pinned context, as the store had them.
  package func existingRows(of ids: [ManagedObjectID]) throws -> [StoreRow] {
    confinement.check()
    return try source.rows(with: ids)
  }

  /// Compares rows that aren't inserted yet with those that the store has under the same keys. Unsaved changes don't count.
  ///
  /// - Parameters:
  ///   - key: the slots of the attributes by which the entity's objects are unique.
  ///   - order: the rows in the order of their keys, as ``NewRows/order(by:)`` says.
  ///   - slots: the slots to compare.
  /// - Returns: nil where only objects can be compared: the context has a parent or is pinned, the entity has relatives, there
  ///   are several stores, or the store doesn't support it.
  package func matches(of rows: NewRows, by key: [Int], order: [Int32], slots: [Int]) throws -> RowMatches? {
    confinement.check()
    guard parent == nil, rows.entity.superentity == nil, rows.entity.subentities.isEmpty,
      persistentStoreCoordinator.persistentStores.count == 1,
      let store = persistentStoreCoordinator.persistentStores.first?.content as? any BulkLoading,
      rowSource.generation == nil
    else { return nil }
    return try store.matches(of: rows, by: key, order: order, slots: slots)
  }
}

extension ManagedObject {
  /// The object as a row for a child context.
  var row: StoreRow {
    if isUnfilled { confinement.context?.fulfill(self) }
    return StoreRow(id: id, content: content)
  }
}

extension FetchRequest {
  /// Fetches the objects in a context: ``ManagedObjectContext/fetch(_:)``.
  ///
  /// Source: `execute()` of Core Data's `NSFetchRequest`, which finds the context by the queue that it is called on.
  /// - Throws: what ``ManagedObjectContext/fetch(_:)`` throws.
  public func execute(in context: ManagedObjectContext) throws -> [Result] { try context.fetch(self) }
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

/// A query for dictionaries, and what is to be done with the rows that it returns.
private struct DictionaryPlan {
  let query: StoreQuery
  let names: [String]
  /// The columns that the request wants as another type than the stores return.
  let conversions: [(column: Int, type: AttributeType)]

  func convert(_ row: inout ContiguousArray<Value>) {
    for (column, type) in conversions { row[column] = row[column].converted(to: type) }
  }
}
