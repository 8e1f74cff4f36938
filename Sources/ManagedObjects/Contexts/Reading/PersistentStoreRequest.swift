/// A request that a context executes: a fetch, a batch request, or one of the history.
///
/// Source: Core Data's `NSPersistentStoreRequest`, whose result is `Any`; here each request has its own.
public protocol PersistentStoreRequest<Outcome> {
  /// What executing the request returns.
  associatedtype Outcome
  /// Executes the request. Called on the context's queue; blocks for the stores.
  /// - Throws: what the context's method for this kind of request throws.
  func execute(in context: ManagedObjectContext) throws -> Outcome
}

extension ManagedObjectContext {
  /// Executes a request of any kind. Called on the context's queue; blocks for the stores.
  ///
  /// Source: `execute(_:)` of Core Data.
  /// - Throws: what the method for this kind of request throws.
  @discardableResult
  public func execute<Request: PersistentStoreRequest>(_ request: Request) throws -> Request.Outcome {
    try request.execute(in: self)
  }
}

extension FetchRequest: PersistentStoreRequest {}

extension BatchInsertRequest: PersistentStoreRequest {
  /// Inserts the rows: ``ManagedObjectContext/execute(_:)-(BatchInsertRequest)``.
  public func execute(in context: ManagedObjectContext) throws -> BatchInsertResult { try context.execute(self) }
}

extension BatchUpdateRequest: PersistentStoreRequest {
  /// Changes the rows: ``ManagedObjectContext/execute(_:)-(BatchUpdateRequest)``.
  public func execute(in context: ManagedObjectContext) throws -> BatchUpdateResult { try context.execute(self) }
}

extension BatchDeleteRequest: PersistentStoreRequest {
  /// Deletes the rows: ``ManagedObjectContext/execute(_:)-(BatchDeleteRequest)``.
  public func execute(in context: ManagedObjectContext) throws -> BatchDeleteResult { try context.execute(self) }
}

extension PersistentHistoryChangeRequest: PersistentStoreRequest {
  /// Reads or deletes history: ``ManagedObjectContext/execute(_:)-(PersistentHistoryChangeRequest)``.
  public func execute(in context: ManagedObjectContext) throws -> PersistentHistoryResult {
    try context.execute(self)
  }
}
