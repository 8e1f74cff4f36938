/// Changes attributes of many rows directly in the store, without objects of a context.
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
/// All rows of a store are changed in one transaction, or none. As in Core Data, the model's validation rules aren't checked;
/// types, required attributes, uniqueness and references are. A to-one relationship can be set to a constant `.object` with a
/// permanent ID, to nil, or to a key path to an object, when it has no inverse or a to-many one.
///
/// Source: Core Data's `NSBatchUpdateRequest`.
public struct BatchUpdateRequest: Sendable {
  /// The entity of the rows.
  public let entityName: String
  /// Selects the rows; nil for all.
  public var predicate: FetchPredicate?
  /// Whether rows of entities that inherit from it are changed, too.
  public var includesSubentities = true
  /// The new value of each property: a constant, or the result of an expression of the predicate language, computed from the
  /// rows as they were before the request.
  ///
  /// Numbers are converted to the attribute's type, truncated for integers; one that doesn't fit makes the request fail. The
  /// results of expressions that read other rows (`employer.name`, `parts.@sum.weight`) are held for all rows at once.
  public var propertiesToUpdate: [String: FetchPredicate.Expression] = [:]
  /// The result that ``ManagedObjectContext/execute(_:)-(BatchUpdateRequest)`` returns.
  public var resultType = BatchRequestResultType.statusOnly
  /// The stores whose rows are changed, those of them that hold the entity; nil, the default, for all.
  ///
  /// Each store has a transaction of its own, which stays committed when that of the next store fails.
  /// Source: `affectedStores` of Core Data's `NSPersistentStoreRequest`.
  public var affectedStores: [PersistentStore]?

  /// A request that changes nothing yet.
  public init(entityName: String) { self.entityName = entityName }
}

extension ManagedObjectContext {
  /// Changes rows directly in the store. To be called on the context's queue. The context's objects and unsaved changes aren't
  /// affected.
  ///
  /// Source: `execute(_:)` of Core Data.
  /// - Throws: an error for a predicate or properties that don't fit the model, ``ManagedObjectError/validation(_:)`` for
  ///   nil where the model requires a value, ``ManagedObjectError/constraintConflicts(_:)``,
  ///   ``ManagedObjectError/brokenReferences(_:)``, ``PersistentStoreError``, or the store's error. Nothing is changed
  ///   then; with several stores, nothing in the one that fails.
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
      done.add(try persistentStoreCoordinator.batch(in: store, "run a batch update") { try update.run(in: $0) })
    }
    return BatchUpdateResult(request.resultType, done)
  }
}
