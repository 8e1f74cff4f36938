public import Foundation

/// What can be read of a store: of its content now, or of its content when a snapshot was taken.
///
/// Every method may be called on any thread, and by several threads at the same time. It returns rows as they are in one
/// committed state of the store. It throws ``ManagedObjectError/store(_:)`` when the store fails to read.
public protocol StoreReader: AnyObject, Sendable {
  /// The rows that match a fetch, in its order, with its limit and offset applied.
  func rows(_ fetch: StoreFetch) throws -> [StoreRow]
  /// Calls `take` with each row that ``rows(_:)`` would return, in the same order, as soon as it is read. `take` doesn't read
  /// from the store. By default it reads all rows first.
  func eachRow(_ fetch: StoreFetch, _ take: (consuming StoreRow) -> Void) throws
  /// The IDs of the rows that ``rows(_:)`` would return, in the same order. By default it reads the rows.
  func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID]
  /// The number of rows that ``rows(_:)`` would return. By default it reads the rows.
  func count(_ fetch: StoreFetch) throws -> Int
  /// The values of rows, or of groups of rows: for each an array in the order of the query's columns. A store that
  /// can't compute them answers with ``StoreQuery/dictionaries(among:in:)``.
  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>]
  /// Calls `take` with each array that ``dictionaries(_:)`` would return, in the same order. On a snapshot `take` may read more.
  /// By default it reads all of them first.
  func eachDictionary(_ query: StoreQuery, _ take: (ContiguousArray<Value>) throws -> Void) throws
  /// Those of the rows that exist, in any order. The IDs are permanent, of this store, and of one entity hierarchy.
  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow]
  /// The objects of a to-many relationship: `objects`, or `orderedObjects` of an ordered one; empty for a row that doesn't
  /// exist.
  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Value
  /// The rows at the other end of a to-many relationship of several objects: what prefetching reads. Rows of one owner
  /// are in the relationship's order if it has one.
  func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) throws -> [RelatedRow]
}

extension StoreReader {
  /// Reads all rows, then passes them on.
  public func eachRow(_ fetch: StoreFetch, _ take: (consuming StoreRow) -> Void) throws {
    for row in try rows(fetch) { take(row) }
  }
  /// Reads the rows.
  public func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] { try rows(fetch).map(\.id) }
  /// Reads the rows.
  public func count(_ fetch: StoreFetch) throws -> Int { try rows(fetch).count }
  /// Reads all of them, then passes them on.
  public func eachDictionary(_ query: StoreQuery, _ take: (ContiguousArray<Value>) throws -> Void) throws {
    for row in try dictionaries(query) { try take(row) }
  }
}

/// A store of your own kind: it holds rows of some of the model's entities. Safe from any thread.
///
/// A coordinator opens it through ``PersistentStoreDescription/init(configuration:open:)``, reads from it for every fetch and
/// fault of its contexts, and writes each save to it. Optional abilities are protocols of their own: ``HistoryKeeping``,
/// ``MetadataKeeping``, ``StoreMaintenance`` and ``PairMaintenance``; a store that has one conforms to it, and the coordinator
/// finds it. `StoreConformance` tests whether a store keeps this contract.
///
/// Source: Core Data's `NSIncrementalStore`. Where that answers `NSPersistentStoreRequest`s with `Any`, a store answers typed
/// requests here.
public protocol IncrementalStore: StoreReader {
  /// A UUID that stays with the store's content, also when it is opened again. Part of every permanent ID.
  ///
  /// Source: `identifier` of Core Data's `NSPersistentStore`.
  var identifier: String { get }
  /// The store's place, nil for a store in memory.
  var url: URL? { get }

  /// The store as it is now, which can be read for as long as the snapshot lives, whatever is written afterwards.
  ///
  /// Called on any thread, when a context that is pinned to a query generation first reads.
  func snapshot() throws -> any StoreReader

  /// Writes a save in one transaction, whole or not at all, and durable as the store's options say when it returns.
  ///
  /// Called on the queue of the context that saves. The coordinator calls it for one save at a time; batch requests may call
  /// ``transaction(_:)`` on other threads. The store:
  /// 1. compares each row of `updated` and `deleted` with what it holds, and throws
  ///    ``ManagedObjectError/mergeConflicts(_:)`` with every row that was changed or deleted since: see
  ///    ``StoreChanges/mergeConflicts(reading:)``;
  /// 2. deletes rows, then changes rows, then inserts the new ones under permanent IDs, in which references to other new rows
  ///    are replaced by their permanent IDs;
  /// 3. throws ``ManagedObjectError/constraintConflicts(_:)`` with every row that has the values of another in a uniqueness
  ///    constraint of its entity;
  /// 4. writes the pairs of many-to-many relationships, of a set that was changed only the difference, and the order of
  ///    ordered ones;
  /// 5. throws ``ManagedObjectError/brokenReferences(_:)`` with every relationship that leads to a row which doesn't exist.
  ///
  /// - Returns: the permanent IDs of the inserted rows in their order, and values that the store has derived.
  /// - Throws: the errors above, of which nothing is written, or ``ManagedObjectError/store(_:)``.
  func write(_ changes: StoreChanges) throws -> StoreWriteResult

  /// Runs `body` with exclusive write access, and keeps what it writes unless it throws. Batch requests run in it.
  ///
  /// Called on the queue of the context that executes the request. Other threads continue to read the committed state.
  func transaction<T>(_ body: (any StoreTransaction) throws -> T) throws -> T

  /// Runs `body` with everything that the calling thread reads and writes through this store in one transaction. Optional:
  /// by default it throws ``StoreTransactionError/unsupported(path:)``.
  ///
  /// `body` returns whether to commit; an error that it throws rolls back. Each write in it is whole or not at all by itself.
  /// Other threads see nothing of it before the commit, and wait to write. Numbers that it gave to new objects aren't given
  /// to others, also after a rollback.
  /// - Throws: ``StoreTransactionError`` when there can't be a transaction or an error has ended it; what `body` throws.
  func inOneTransaction<T>(_ body: () throws -> (T, TransactionEnd)) throws -> T

  /// Permanent IDs for new objects, one for each of the entities, never given to another object of the entities' hierarchies.
  ///
  /// Called on the queue of a context, for ``ManagedObjectContext/obtainPermanentIDs(for:)``. Entities with a primary key
  /// aren't among them: their rows are numbered by an attribute. Source: `obtainPermanentIDs(for:)` of
  /// `NSIncrementalStore`.
  func permanentIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID]

  /// Makes everything written so far survive a loss of power. By default it does nothing.
  func synchronize() throws
  /// Closes files and connections; every later use fails. Called once, when the store is removed or the coordinator is
  /// closed. By default it does nothing.
  func close() throws
}

extension IncrementalStore {
  /// Refuses.
  public func inOneTransaction<T>(_ body: () throws -> (T, TransactionEnd)) throws -> T {
    throw StoreTransactionError.unsupported(path: StoreTransactionError.name(of: self))
  }
  /// Does nothing.
  public func synchronize() throws {}
  /// Does nothing.
  public func close() throws {}
}

/// A store within a transaction that no other thread writes into. Batch requests are expressed in its terms once, so that
/// every store does the same. Used only during the call of ``IncrementalStore/transaction(_:)``, on its thread.
public protocol StoreTransaction: StoreReader {
  /// Writes changes as a save does, whole or not at all. The rows are as they were read in the same transaction.
  func write(_ changes: StoreChanges) throws -> StoreWriteResult
}

/// The fast path of imports: a store that writes rows from flat memory and can do without indexes during a load.
package protocol BulkLoading: IncrementalStore {
  /// Whether ``IncrementalStore/write(_:)`` takes ``StoreChanges/newRows``; if not, it gets them among the inserted rows.
  var takesNewRows: Bool { get }
  /// Numbers for new rows of an entity that no other rows get, one after another, as ``IncrementalStore/permanentIDs(for:)``
  /// gives IDs.
  /// - Returns: the scope of their IDs, and the first number.
  func permanentNumbers(_ count: Int, of entity: EntityDescription) throws -> (scope: IDScope, first: Int64)
  /// Compares new rows, in the order of their different keys, with the stored rows that have the same values in the slots of
  /// the key. Returns nil when the caller must compare by itself.
  func matches(of rows: NewRows, by key: [Int], order: [Int32], slots: [Int]) throws -> RowMatches?
  /// Removes, for the time of a load, the indexes of an entity's table that only speed up reading, if that pays for the
  /// expected rows. Each call that returns true must be balanced by ``endPostponement(of:)``.
  func postponeIndexes(of entity: EntityDescription, expecting rows: Int64) throws -> Bool
  /// Balances ``postponeIndexes(of:expecting:)``.
  func endPostponement(of entity: EntityDescription)
  /// Makes the indexes that ``postponeIndexes(of:expecting:)`` removed, unless another load still does without them.
  func makeIndexes(of entity: EntityDescription) throws
}

/// A store whose numbers of rows a migration can reserve. Optional; see ``IncrementalStore``.
package protocol NumberKeeping: IncrementalStore {
  /// The highest number that any row has or had.
  func highestNumber() throws -> Int64
  /// Gives new rows higher numbers than `number`.
  func raiseNumbers(above number: Int64) throws
}

/// A store that several processes work on together, with what they need for that beside its rows. Optional; see
/// ``IncrementalStore``.
package protocol SharedStore: IncrementalStore {
  /// The time by the clock that all of them share.
  func time() throws -> Date
  /// Takes a lock that isn't a row's, until the end of the thread's transaction of several writes.
  /// - Parameters:
  ///   - name: of the lock, in this store.
  ///   - isShared: whether others may hold it, too, who share it.
  ///   - waits: whether to wait for others.
  /// - Returns: whether it is held.
  func lock(_ name: String, isShared: Bool, waits: Bool) throws -> Bool
  /// Counts, from now on, the commits of this store object that have written something.
  func countCommits() throws
  /// How many commits were counted, by all processes. It rises after a commit, and a crash of the server may set it back: only
  /// whether it is another number than before means something.
  func commits() throws -> Int64
  /// Sets a date of a row to the time by the clock that all share, and some seconds on, without looking at the rest of the row.
  /// Isn't counted as a commit.
  /// - Returns: that time; nil if there is no such row.
  func setTime(_ attribute: AttributeDescription, of id: ManagedObjectID, ahead seconds: TimeInterval) throws -> Date?
  /// Tells those who listen, soon and at most once in a while, that there is something new.
  func announce()
  /// Calls `handler`, on any thread, with what is heard of others, and of this process. Announcements can get lost.
  func listen(_ handler: @escaping @Sendable (StoreNews) -> Void) throws
}

/// What a listener of a ``SharedStore`` hears.
package enum StoreNews: Sendable, Hashable {
  /// There is a connection for announcements. Some may have been missed before. Whether any gets through isn't known yet.
  case connected
  /// Something was announced.
  case announcement
  /// Nothing is heard: there is no connection, or a pooler between passes no announcements on.
  case disconnected
}

/// How a transaction of several saves ends.
public enum TransactionEnd: Sendable, Hashable {
  /// Everything that was written stays.
  case commit
  /// Everything is as it was before.
  case rollBack
}
