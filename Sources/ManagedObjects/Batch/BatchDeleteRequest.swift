/// Deletes many rows directly in the store, without objects of a context.
///
/// ```swift
/// let request = BatchDeleteRequest(fetchRequest: FetchRequest<Message>(entityName: "Message", predicate: old))
/// try context.execute(request)
/// ```
///
/// All rows of a store are deleted in one transaction, or none. The delete rules apply: nullify, also for rows that haven't
/// been read; cascade, whose rows are deleted and reported with the others; deny, which makes the request fail. It also fails
/// where a rule would nullify a relationship that isn't optional. The methods of the objects' classes aren't called.
///
/// Source: Core Data's `NSBatchDeleteRequest`.
public struct BatchDeleteRequest {
  /// The result that ``ManagedObjectContext/execute(_:)-(BatchDeleteRequest)`` returns.
  public var resultType = BatchRequestResultType.statusOnly
  /// The stores whose rows are deleted; nil, the default, for those of the fetch request.
  ///
  /// Each store has a transaction of its own, which stays committed when that of the next store fails.
  /// Source: `affectedStores` of Core Data's `NSPersistentStoreRequest`.
  public var affectedStores: [PersistentStore]?
  let target: Target

  enum Target {
    case fetch((ManagedObjectContext) throws -> StoreFetch)
    case ids([ManagedObjectID])
  }

  /// Deletes the rows that a request finds in the store; sort, limit and offset count.
  public init<T: ManagedObject>(fetchRequest: FetchRequest<T>) {
    target = .fetch { try $0.bind(fetchRequest) }
  }

  /// Deletes the rows with these IDs, if they exist. In Core Data all have to be of one entity; here they needn't be.
  public init(objectIDs: [ManagedObjectID]) { target = .ids(objectIDs) }
}

extension ManagedObjectContext {
  /// Deletes rows directly in the store. To be called on the context's queue. The context's objects and unsaved changes aren't
  /// affected.
  ///
  /// Source: `execute(_:)` of Core Data.
  /// - Throws: ``ManagedObjectError/validation(_:)`` for deletions that are denied or would leave an object without a
  ///   required value, ``PersistentStoreError``, or the store's error. Nothing is deleted then; with several stores, nothing
  ///   in the one that fails.
  @discardableResult
  public func execute(_ request: BatchDeleteRequest) throws -> BatchDeleteResult {
    confinement.check()
    let coordinator = persistentStoreCoordinator
    let deletion = BatchDeletion(contextName: name, transactionAuthor: transactionAuthor)
    var done = StoreBatchResult()
    let affected = try identifiers(of: request.affectedStores)
    var ids: [ManagedObjectID]
    switch request.target {
    case .ids(let given): ids = given
    case .fetch(let bind):
      var fetch = try bind(self)
      if let affected { fetch.affectedStores = affected }
      let stores = try coordinator.stores(for: fetch)
      if stores.count == 1 || !fetch.isOrdered {
        for store in stores {
          done.add(
            try persistentStoreCoordinator.batch(in: store, "run a batch delete") {
              try deletion.run($0.ids(fetch), in: $0)
            })
        }
        return BatchDeleteResult(request.resultType, done)
      }
      // One store alone can't decide which rows are in the page.
      ids = try coordinator.ids(fetch)
    }
    ids.removeAll { $0.isTemporaryID }
    var parts: [(store: PersistentStore, ids: [ManagedObjectID])] = []
    for id in ids where affected?.contains(id.scope.storeIdentifier) != false {
      let store = try coordinator.map.store(holding: id)
      if let place = parts.firstIndex(where: { $0.store == store }) {
        parts[place].ids.append(id)
      } else {
        parts.append((store, [id]))
      }
    }
    for part in parts {
      done.add(
        try persistentStoreCoordinator.batch(in: part.store, "run a batch delete") {
          try deletion.run(part.ids, in: $0)
        })
    }
    return BatchDeleteResult(request.resultType, done)
  }
}
