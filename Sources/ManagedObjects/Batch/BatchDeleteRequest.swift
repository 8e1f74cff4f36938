/// Deletes many rows straight in the store, without objects of a context.
///
/// ```swift
/// let request = BatchDeleteRequest(fetchRequest: FetchRequest<Message>(entityName: "Message", predicate: old))
/// try context.execute(request)
/// ```
///
/// All rows are deleted in one transaction, or none. The delete rules are kept: nullify, also towards rows that nobody
/// has read; cascade, whose rows are deleted and told of with the others; deny, which makes the request fail. It fails as
/// well where a rule would nullify a relationship that isn't optional. What objects say on their deletion isn't asked.
///
/// Source: Core Data's `NSBatchDeleteRequest`.
public struct BatchDeleteRequest {
  /// What ``ManagedObjectContext/execute(_:)-(BatchDeleteRequest)`` is to return.
  public var resultType = BatchRequestResultType.statusOnly
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
  ///   the model demands of it, or the store's error. Nothing is deleted then, of IDs in several stores nothing in the
  ///   store that fails.
  @discardableResult
  public func execute(_ request: BatchDeleteRequest) throws -> BatchDeleteResult {
    home.check()
    let coordinator = persistentStoreCoordinator
    let deletion = BatchDeletion(contextName: name, transactionAuthor: transactionAuthor)
    var done = StoreBatchResult()
    switch request.target {
    case .fetch(let bind):
      let fetch = try bind(self)
      done = try coordinator.store(of: fetch.entity).transaction { try deletion.run($0.ids(fetch), in: $0) }
    case .ids(let ids):
      var parts: [(store: any PersistentStore, ids: [ManagedObjectID])] = []
      for id in ids where !id.isTemporaryID {
        let store = try coordinator.store(of: id.entity)
        if let place = parts.firstIndex(where: { $0.store === store }) {
          parts[place].ids.append(id)
        } else {
          parts.append((store, [id]))
        }
      }
      for part in parts {
        let one = try part.store.transaction { try deletion.run(part.ids, in: $0) }
        done.count += one.count
        done.ids += one.ids
      }
    }
    return BatchDeleteResult(request.resultType, done)
  }
}
