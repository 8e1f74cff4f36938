/// What one save writes to one store, whole or not at all.
public struct StoreChanges: Sendable {
  /// A row as it is to be, and as it was read.
  public struct Update: Sendable {
    /// The row's permanent ID.
    public package(set) var id: ManagedObjectID
    /// The values to write. A to-many relationship whose objects were changed is `objects` or `orderedObjects`; one that
    /// wasn't may be `unresolved`.
    public package(set) var values: ContiguousArray<Value>
    /// The values that the context has read; the row must still have them.
    public package(set) var committed: ContiguousArray<Value>
    /// The number of the latest save that the context knows of the row's one-to-many sets; nil unless their members change.
    var latestSave: Int64?
    /// Whether values of the row are to be written. Otherwise it is announced, and goes up to a parent: only transient values have
    /// changed, or the members of its sets, or it has its former values again.
    var isWritten = true
    /// Whether stores are asked: to write the row, or to compare it, because members come into its sets or leave them.
    var concernsStores: Bool { isWritten || latestSave != nil }
  }

  /// New rows in the order of their insertion, under temporary IDs, or permanent ones that were obtained before. Other rows
  /// may refer to them by the same IDs.
  public package(set) var inserted: [StoreRow] = []
  /// New rows that no objects are of.
  package var newRows: [NewRows] = []
  /// Rows to change.
  ///
  /// A row whose values are as they were read is only compared: the members of its one-to-many sets change.
  public package(set) var updated: [Update] = []
  /// Rows to delete, with the values that they must still have.
  public package(set) var deleted: [StoreRow] = []
  /// The name of the context that saves, for the store's history.
  public package(set) var contextName: String?
  /// The author of the changes, for the store's history.
  public package(set) var transactionAuthor: String?
  /// The row that must be as it was read, though nothing is written to it. The coordinator has the stores compare it.
  var fence: SaveFence?
  /// Where new objects go that were assigned to a store, by their temporary IDs.
  var assignments: [ManagedObjectID: PersistentStore] = [:]

  package init(contextName: String? = nil, transactionAuthor: String? = nil) {
    self.contextName = contextName
    self.transactionAuthor = transactionAuthor
  }

  /// Whether there is nothing to write.
  public var isEmpty: Bool { inserted.isEmpty && newRows.isEmpty && updated.isEmpty && deleted.isEmpty }
}

/// The result of a write.
public struct StoreWriteResult: Sendable {
  /// Values of one row that the store changed beyond what it was asked: derived attributes.
  public struct Refresh: Sendable {
    /// The row's permanent ID.
    public var id: ManagedObjectID
    /// The new values, by slot.
    public var values: [Int: Value]

    /// Values that the store has changed.
    public init(id: ManagedObjectID, values: [Int: Value]) {
      self.id = id
      self.values = values
    }
  }

  /// The permanent IDs of the inserted rows, in their order. A parent context, where the rows keep their IDs, returns none.
  public var ids: [ManagedObjectID]
  /// The rows without objects, with their IDs.
  package var savedRows: [SavedRows]
  /// What the store changed beyond that, also of rows that weren't in the changes; empty for a model without derived
  /// attributes.
  public var refreshed: [Refresh]
  /// The number of the save among the coordinator's, from 1; for a save into a parent context, the parent's latest.
  var number: Int64 = 0
  /// The place in the history after the write; nil where no store that wrote tracks one.
  package var historyToken: PersistentHistoryToken?
  /// Whether it is part of a transaction of many writes, and is announced only after the commit.
  var isInTransaction = false

  /// A result.
  public init(ids: [ManagedObjectID], refreshed: [Refresh] = []) {
    self.init(ids: ids, savedRows: [], refreshed: refreshed)
  }

  /// Adds the place in another store's history.
  mutating func note(_ token: PersistentHistoryToken?) {
    if let token { historyToken = historyToken?.merging(token) ?? token }
  }

  package init(ids: [ManagedObjectID], savedRows: [SavedRows], refreshed: [Refresh] = []) {
    self.ids = ids
    self.savedRows = savedRows
    self.refreshed = refreshed
  }
}
