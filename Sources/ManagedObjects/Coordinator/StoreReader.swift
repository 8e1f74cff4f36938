/// What can be read of a store: of its content now, or of what it was when a snapshot was taken. Safe from any thread.
package protocol StoreReader: AnyObject, Sendable {
  /// The rows that match, in order.
  func rows(_ fetch: StoreFetch) throws -> [StoreRow]
  /// Calls `take` with each row that matches, in order, as soon as it is read; it mustn't read from the store.
  func eachRow(_ fetch: StoreFetch, _ take: (consuming StoreRow) -> Void) throws
  /// The IDs of the rows that match, in order.
  func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID]
  /// How many match.
  func count(_ fetch: StoreFetch) throws -> Int
  /// What is asked of rows, or of groups of them: an array of values, in the order of the columns, for each.
  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>]
  /// Calls `take` with each of them, in order, as soon as it is read. Of a snapshot more may be read there.
  func eachDictionary(_ query: StoreQuery, _ take: (ContiguousArray<Value>) throws -> Void) throws
  /// The rows that exist of those asked for, in any order.
  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow]
  /// What a to-many relationship holds: `objects`, or `orderedObjects` of an ordered one.
  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Value
  /// The rows at the other end of a to-many relationship of several objects, each one's in their order if they have one.
  func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) throws -> [RelatedRow]
  /// How new rows, in the order of their different keys, compare with those of the same keys; nil when the store leaves that
  /// to whoever reads them.
  func matches(of rows: NewRows, by key: Int, order: [Int32], slots: [Int]) throws -> RowMatches?
}

extension StoreReader {
  package func eachDictionary(_ query: StoreQuery, _ take: (ContiguousArray<Value>) throws -> Void) throws {
    for row in try dictionaries(query) { try take(row) }
  }
  package func eachRow(_ fetch: StoreFetch, _ take: (consuming StoreRow) -> Void) throws {
    for row in try rows(fetch) { take(row) }
  }
  package func matches(of rows: NewRows, by key: Int, order: [Int32], slots: [Int]) throws -> RowMatches? { nil }
}

/// A row, and the object whose relationship leads to it.
package struct RelatedRow: Sendable {
  package var owner: ManagedObjectID
  package var row: StoreRow

  package init(owner: ManagedObjectID, row: StoreRow) {
    self.owner = owner
    self.row = row
  }
}
