/// What a batch request is to tell of what it did. Core Data has one such type for each kind of request:
/// `NSBatchInsertRequestResultType`, `NSBatchUpdateRequestResultType`, `NSBatchDeleteRequestResultType`.
public enum BatchRequestResultType: Sendable {
  /// That it is done.
  case statusOnly
  /// How many objects it concerned.
  case count
  /// Which objects it concerned.
  case objectIDs
}

/// What a batch request did: Core Data's `NSBatchInsertResult`, `NSBatchUpdateResult` and `NSBatchDeleteResult`, with a
/// property for each type of result where those have one `Any`.
///
/// Contexts aren't told. Whoever holds objects of the rows hands the IDs to
/// `mergeChanges(fromRemoteContextSave:into:)`, or resets.
public struct BatchResult: Sendable {
  /// What was asked for.
  public let resultType: BatchRequestResultType
  /// How many objects were inserted or changed, were updated, or were deleted; nil when only the status was asked for.
  public let count: Int?
  /// Their IDs; nil unless they were asked for.
  public let objectIDs: [ManagedObjectID]?

  init(_ resultType: BatchRequestResultType, _ done: StoreBatchResult) {
    self.resultType = resultType
    count = resultType == .statusOnly ? nil : done.count
    objectIDs = resultType == .objectIDs ? done.ids : nil
  }
}

/// What a batch insert did.
public typealias BatchInsertResult = BatchResult
/// What a batch update did.
public typealias BatchUpdateResult = BatchResult
/// What a batch delete did.
public typealias BatchDeleteResult = BatchResult

/// What a batch did to the rows of one store.
struct StoreBatchResult: Sendable {
  var count = 0
  /// The rows' IDs, if somebody wants them.
  var ids: [ManagedObjectID] = []

  /// Takes in what it did to those of another store.
  mutating func add(_ other: StoreBatchResult) {
    count += other.count
    ids += other.ids
  }
}
