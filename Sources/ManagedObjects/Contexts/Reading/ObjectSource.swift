/// Where a context's objects come from and its changes go: the coordinator, a snapshot of its stores, or a parent context.
protocol ObjectSource: Sendable {
  /// The rows that match, in order.
  func rows(_ fetch: StoreFetch) throws -> [StoreRow]
  /// Calls `take` with each row that matches, in order, as soon as it is read; it mustn't read from the source.
  func eachRow(_ fetch: StoreFetch, _ take: (consuming StoreRow) -> Void) throws
  /// The IDs of the objects that match, in order.
  func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID]
  /// How many match.
  func count(_ fetch: StoreFetch) throws -> Int
  /// What is asked of the stores' rows, or of groups of them. Unsaved changes don't count.
  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>]
  /// Calls `take` with each of them, in order, as soon as it is read.
  func eachDictionary(_ query: StoreQuery, _ take: (ContiguousArray<Value>) throws -> Void) throws
  /// The rows that exist of those asked for, in any order.
  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow]
  /// What a to-many relationship holds: `objects`, or `orderedObjects` of an ordered one.
  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Value
  /// The rows at the other end of a to-many relationship of several objects, each one's in their order if they have one.
  func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) throws -> [RelatedRow]
  /// Writes changes, all or none.
  func write(_ changes: StoreChanges) throws -> StoreWriteResult
  /// IDs for new objects, before they are saved; `stores` says which of them are assigned to a store, by their places.
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

/// One object's row: the values a store holds, in the entity's slots. To-many relationships are `unresolved`.
package struct StoreRow: Sendable {
  package var id: ManagedObjectID
  package var values: ContiguousArray<Value>

  @inlinable
  package init(id: ManagedObjectID, values: ContiguousArray<Value>) {
    self.id = id
    self.values = values
  }
}

/// A fetch as a store sees it: names bound to the model's properties.
package struct StoreFetch: Sendable {
  package var entity: EntityDescription
  package var includesSubentities: Bool
  package var predicate: ResolvedPredicate?
  package var sort: [ResolvedSort]
  /// Greatest number of rows, 0 for all.
  package var limit: Int
  package var offset: Int
  /// The identifiers of the stores to look in; nil for all.
  package var affectedStores: Set<String>?
  /// The slots to read; the others of a row are `unresolved`. nil for all.
  package var slots: Set<Int>?
  /// Whether objects that a context holds take on the values of their rows.
  package var refreshesObjects = false
  /// Who watches the rows come, and may stop them.
  package var monitor: FetchMonitor?

  package init(
    entity: EntityDescription, includesSubentities: Bool = true, predicate: ResolvedPredicate? = nil,
    sort: [ResolvedSort] = [], limit: Int = 0, offset: Int = 0
  ) {
    self.entity = entity
    self.includesSubentities = includesSubentities
    self.predicate = predicate
    self.sort = sort
    // A page can't begin before the first row.
    self.limit = max(0, limit)
    self.offset = max(0, offset)
  }
}

/// What one save writes to one store.
package struct StoreChanges: Sendable {
  /// A row as it is and as it was.
  package struct Update: Sendable {
    package var id: ManagedObjectID
    package var values: ContiguousArray<Value>
    package var committed: ContiguousArray<Value>
  }

  /// New rows in the order of their insertion, under temporary IDs (or permanent ones obtained before).
  package var inserted: [StoreRow] = []
  /// New rows that no objects are of.
  package var newRows: [NewRows] = []
  package var updated: [Update] = []
  /// Rows to delete, with the values that they are expected to have.
  package var deleted: [StoreRow] = []
  /// The name of the context that saves, for the store's history.
  package var contextName: String?
  /// Who makes the changes, for the store's history.
  package var transactionAuthor: String?
  /// Where new objects go that were assigned to a store, by their temporary IDs.
  var assignments: [ManagedObjectID: PersistentStore] = [:]

  package init(contextName: String? = nil, transactionAuthor: String? = nil) {
    self.contextName = contextName
    self.transactionAuthor = transactionAuthor
  }

  /// Whether there is nothing to write.
  package var isEmpty: Bool { inserted.isEmpty && newRows.isEmpty && updated.isEmpty && deleted.isEmpty }
}

/// What a write made of the changes.
package struct StoreWriteResult: Sendable {
  /// Values of one row that the store changed beyond what it was asked: derived attributes.
  package struct Refresh: Sendable {
    /// The row, by its permanent ID.
    package var id: ManagedObjectID
    /// The new values, by slot.
    package var values: [Int: Value]

    package init(id: ManagedObjectID, values: [Int: Value]) {
      self.id = id
      self.values = values
    }
  }

  /// The IDs of the inserted rows, in their order.
  package var ids: [ManagedObjectID]
  /// The rows without objects, with their IDs.
  package var savedRows: [SavedRows]
  /// What the store changed beyond that, also of rows that weren't in the changes; empty for a model without derived
  /// attributes.
  package var refreshed: [Refresh]
  /// Which of the coordinator's saves it is, from 1; of one into a parent context, the last that the parent had told.
  var number: Int64 = 0
  /// Whether it is part of a transaction of many writes, and nobody is to hear of it before the commit.
  var isInTransaction = false

  package init(ids: [ManagedObjectID], savedRows: [SavedRows] = [], refreshed: [Refresh] = []) {
    self.ids = ids
    self.savedRows = savedRows
    self.refreshed = refreshed
  }
}
