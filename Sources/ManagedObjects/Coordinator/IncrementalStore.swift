package import Foundation

/// What a store is to the coordinator: it holds rows of some of the model's entities. Safe from any thread.
///
/// Source: Core Data's `NSIncrementalStore`, what a store of one's own kind inherits from.
package protocol IncrementalStore: StoreReader {
  /// A UUID that stays with the store's content.
  var identifier: String { get }
  /// Where it is, nil for a store in memory.
  var url: URL? { get }
  /// The store as it is now, to be read however it changes afterwards.
  func snapshot() throws -> any StoreReader
  /// Whether it writes rows in flat memory as they are; else it is given them among the others.
  var takesNewRows: Bool { get }
  /// Writes changes in one transaction.
  func write(_ changes: StoreChanges) throws -> StoreWriteResult
  /// Runs `body`, and keeps what it writes if it doesn't throw; nobody else writes meanwhile. What batch requests run in.
  func transaction<T>(_ body: (any StoreTransaction) throws -> T) throws -> T
  /// Runs `body` with all that the calling thread reads and writes by this store meanwhile in one transaction, whose end it
  /// says; an error that it throws rolls back. Each write in it is whole or not at all by itself. Other threads see nothing
  /// of it before the commit, and wait to write. Numbers that it gave new objects aren't given again by this store.
  /// - Throws: ``StoreTransactionError`` when there can't be one, or an error has ended it; what `body` throws.
  func inOneTransaction<T>(_ body: () throws -> (T, TransactionEnd)) throws -> T
  /// IDs for new objects, never given again.
  func permanentIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID]
  /// Takes away, for now, what only speeds reading an entity's rows, if that pays when so many are to come. Each call that
  /// answers true is to be followed by one of ``endPostponement(of:)``.
  func postponeIndexes(of entity: EntityDescription, expecting rows: Int64) throws -> Bool
  /// Says that a load which has postponed them goes on without them no more.
  func endPostponement(of entity: EntityDescription)
  /// Makes what ``postponeIndexes(of:expecting:)`` took away, unless a load still goes on without it.
  func makeIndexes(of entity: EntityDescription) throws
  /// Makes everything written so far survive a loss of power.
  func synchronize() throws
  /// Lets go of files and connections. Every later use fails.
  func close() throws
}

extension IncrementalStore {
  /// A store needn't know of them.
  package var takesNewRows: Bool { false }
  /// A store may have none.
  package func inOneTransaction<T>(_ body: () throws -> (T, TransactionEnd)) throws -> T {
    throw StoreTransactionError.unsupported(path: StoreTransactionError.name(of: self))
  }
  /// A store without files has nothing to let go of.
  package func close() throws {}
  /// A store without indexes has none to postpone.
  package func postponeIndexes(of entity: EntityDescription, expecting rows: Int64) throws -> Bool { false }
  package func endPostponement(of entity: EntityDescription) {}
  package func makeIndexes(of entity: EntityDescription) throws {}
}
