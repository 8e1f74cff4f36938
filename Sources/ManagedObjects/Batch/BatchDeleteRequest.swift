/// Deletes many rows straight in the store, without objects of a context.
///
/// ```swift
/// let request = BatchDeleteRequest(fetchRequest: FetchRequest<Message>(entityName: "Message", predicate: old))
/// try context.execute(request)
/// ```
///
/// All rows of a store are deleted in one transaction, or none. The delete rules are kept: nullify, also towards rows that
/// nobody has read; cascade, whose rows are deleted and told of with the others; deny, which makes the request fail. It
/// fails as well where a rule would nullify a relationship that isn't optional. What objects say on their deletion isn't
/// asked.
///
/// Source: Core Data's `NSBatchDeleteRequest`.
public struct BatchDeleteRequest {
  /// What ``ManagedObjectContext/execute(_:)-(BatchDeleteRequest)`` is to return.
  public var resultType = BatchRequestResultType.statusOnly
  /// The stores whose rows are deleted; nil, the default, for those of the fetch request.
  ///
  /// Each store is a transaction of its own: what one has done stays done when the next one fails.
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

  /// Deletes the rows with these IDs, as far as they exist. Core Data wants them all of one entity; here they needn't be.
  public init(objectIDs: [ManagedObjectID]) { target = .ids(objectIDs) }
}

extension ManagedObjectContext {
  /// Deletes rows straight in the store. To be called on the context's queue; the context's objects and unsaved changes
  /// aren't concerned.
  ///
  /// Source: `execute(_:)` of Core Data.
  /// - Throws: ``ManagedObjectError/validation(_:)`` for deletions that are denied or would leave an object without what
  ///   the model demands of it, ``PersistentStoreError``, or the store's error. Nothing is deleted then, of several
  ///   stores nothing in the one that fails.
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
          done.add(try store.content.transaction { try deletion.run($0.ids(fetch), in: $0) })
        }
        return BatchDeleteResult(request.resultType, done)
      }
      // Which rows are of the page can't be told by one store alone.
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
    for part in parts { done.add(try part.store.content.transaction { try deletion.run(part.ids, in: $0) }) }
    return BatchDeleteResult(request.resultType, done)
  }
}
