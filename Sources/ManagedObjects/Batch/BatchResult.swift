/// The kind of result that a batch request returns. Core Data has one such type for each kind of request:
/// `NSBatchInsertRequestResultType`, `NSBatchUpdateRequestResultType`, `NSBatchDeleteRequestResultType`.
public enum BatchRequestResultType: Sendable {
  /// Only that it succeeded.
  case statusOnly
  /// The number of objects that it affected.
  case count
  /// The IDs of the objects that it affected.
  case objectIDs
}

/// The result of a batch request: Core Data's `NSBatchInsertResult`, `NSBatchUpdateResult` and `NSBatchDeleteResult`, with a
/// property for each kind of result where those have one `Any`.
///
/// Contexts don't learn of the changes. A program that holds objects of the rows passes the IDs to
/// `mergeChanges(fromRemoteContextSave:into:)`, or resets the context.
public struct BatchResult: Sendable {
  /// The requested kind of result.
  public let resultType: BatchRequestResultType
  /// The number of objects that were inserted or changed, updated, or deleted; nil when only the status was requested.
  public let count: Int?
  /// Their IDs; nil unless they were requested.
  public let objectIDs: [ManagedObjectID]?

  init(_ resultType: BatchRequestResultType, _ done: StoreBatchResult) {
    self.resultType = resultType
    count = resultType == .statusOnly ? nil : done.count
    objectIDs = resultType == .objectIDs ? done.ids : nil
  }
}

/// The result of a batch insert.
public typealias BatchInsertResult = BatchResult
/// The result of a batch update.
public typealias BatchUpdateResult = BatchResult
/// The result of a batch delete.
public typealias BatchDeleteResult = BatchResult

/// The rows of one store that a batch request affected.
struct StoreBatchResult: Sendable {
  var count = 0
  /// The rows' IDs, if they were requested.
  var ids: [ManagedObjectID] = []

  /// Adds the result of another store.
  mutating func add(_ other: StoreBatchResult) {
    count += other.count
    ids += other.ids
  }
}

extension PersistentStoreCoordinator {
  /// Runs a batch request in a transaction of one store.
  /// - Parameter operation: names it in the error of a store that is opened for reading only.
  func batch(
    in store: PersistentStore, _ operation: String, _ body: (any StoreTransaction) throws -> StoreBatchResult
  ) throws -> StoreBatchResult {
    defer { noteChange() }
    return try store.writableContent(to: operation).transaction(body)
  }
}
