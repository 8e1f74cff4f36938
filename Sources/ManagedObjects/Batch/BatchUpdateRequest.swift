/// Changes attributes of many rows straight in the store, without objects of a context.
///
/// ```swift
/// var request = BatchUpdateRequest(entityName: "Message")
/// request.predicate = try FetchPredicate(format: "received < %@", limit)
/// request.propertiesToUpdate = [
///   "isRead": .constant(.bool(true)), "shownTitle": .path("title"), "size": try .init(format: "size * 2 + parts.@count"),
/// ]
/// try context.execute(request)
/// ```
///
/// All rows of a store are changed in one transaction, or none. Validation of the model isn't asked, as in Core Data;
/// types, attributes that aren't optional, uniqueness and references are kept. A to-one relationship can be set, to a
/// constant `.object` with a permanent ID, nil, or a key path to an object, when nothing or a to-many relationship leads
/// back.
///
/// Source: Core Data's `NSBatchUpdateRequest`.
public struct BatchUpdateRequest: Sendable {
  /// The entity of the rows.
  public let entityName: String
  /// Which rows; nil for all.
  public var predicate: FetchPredicate?
  /// Whether rows of entities that inherit from it are changed too.
  public var includesSubentities = true
  /// What each property becomes: a constant, or what an expression of the predicate language makes of the row, as all rows
  /// were before the request.
  ///
  /// Numbers become the attribute's type, cut off where that is whole; one that it can't hold makes the request fail. What
  /// expressions that read other rows (`employer.name`, `parts.@sum.weight`) come to is held for all rows at once.
  public var propertiesToUpdate: [String: FetchPredicate.Expression] = [:]
  /// What ``ManagedObjectContext/execute(_:)-(BatchUpdateRequest)`` is to return.
  public var resultType = BatchRequestResultType.statusOnly
  /// The stores whose rows are changed, those of them that hold the entity; nil, the default, for all.
  ///
  /// Each store is a transaction of its own: what one has done stays done when the next one fails.
  /// Source: `affectedStores` of Core Data's `NSPersistentStoreRequest`.
  public var affectedStores: [PersistentStore]?

  /// A request that changes nothing yet.
  public init(entityName: String) { self.entityName = entityName }
}

extension ManagedObjectContext {
  /// Changes rows straight in the store. To be called on the context's queue; the context's objects and unsaved changes
  /// aren't concerned.
  ///
  /// Source: `execute(_:)` of Core Data.
  /// - Throws: what of the predicate or the properties doesn't fit the model, ``ManagedObjectError/validation(_:)`` for
  ///   nil where the model demands a value, ``ManagedObjectError/constraintConflicts(_:)``,
  ///   ``ManagedObjectError/brokenReferences(_:)``, ``PersistentStoreError``, or the store's error. Nothing is changed
  ///   then, of several stores nothing in the one that fails.
  @discardableResult
  public func execute(_ request: BatchUpdateRequest) throws -> BatchUpdateResult {
    confinement.check()
    let entity = try entity(request.entityName)
    var fetch = StoreFetch(
      entity: entity, includesSubentities: request.includesSubentities,
      predicate: try request.predicate?.resolved(in: entity))
    try fetch.predicate?.checkStored()
    fetch.affectedStores = try identifiers(of: request.affectedStores)
    let update = BatchUpdate(
      fetch: fetch,
      assignments: try request.propertiesToUpdate.map { try BatchAssignment($0, $1, of: entity) },
      contextName: name, transactionAuthor: transactionAuthor)
    var done = StoreBatchResult()
    let stores = try persistentStoreCoordinator.stores(for: fetch)
    for store in stores { try update.check(store) }
    for store in stores {
      done.add(try store.content.transaction { try update.run(in: $0) })
    }
    return BatchUpdateResult(request.resultType, done)
  }
}
