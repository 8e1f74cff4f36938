/// Where a context reads objects' rows and writes its changes: the coordinator, a snapshot of its stores, or a parent context.
///
/// It repeats the reads of ``StoreReader`` and doesn't refine it: the coordinator is public, and would have to publish them.
protocol ObjectSource: Sendable {
  /// The rows that match, in order.
  func rows(_ fetch: StoreFetch) throws -> [StoreRow]
  /// Calls `take` with each row that matches, in order, as soon as it is read. `take` must not read from the source.
  func eachRow(_ fetch: StoreFetch, _ take: (consuming StoreRow) -> Void) throws
  /// The IDs of the objects that match, in order.
  func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID]
  /// The number of rows that match.
  func count(_ fetch: StoreFetch) throws -> Int
  /// The requested values of the stores' rows, or of groups of them. Unsaved changes don't count.
  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>]
  /// Calls `take` with each of them, in order, as soon as it is read.
  func eachDictionary(_ query: StoreQuery, _ take: (ContiguousArray<Value>) throws -> Void) throws
  /// Those of the rows that exist, in any order.
  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow]
  /// The content of a to-many relationship: `objects`, or `orderedObjects` for an ordered one.
  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Value
  /// The rows at the other end of a to-many relationship of several objects, in order for each if the relationship is ordered.
  func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) throws -> [RelatedRow]
  /// Writes changes, all or none.
  func write(_ changes: StoreChanges) throws -> StoreWriteResult
  /// IDs for new objects before they are saved. `stores` has the stores that some are assigned to, by position.
  func permanentIDs(for entities: [EntityDescription], in stores: [Int: PersistentStore]) throws -> [ManagedObjectID]
}

extension ObjectSource {
  func eachDictionary(_ query: StoreQuery, _ take: (ContiguousArray<Value>) throws -> Void) throws {
    for row in try dictionaries(query) { try take(row) }
  }

  func eachRow(_ fetch: StoreFetch, _ take: (consuming StoreRow) -> Void) throws {
    for row in try rows(fetch) { take(row) }
  }
}
