public import Foundation

/// A store that can keep a history of its transactions, and notices those of other coordinators and processes. Optional; see
/// ``IncrementalStore``. Safe from any thread.
public protocol HistoryKeeping: IncrementalStore {
  /// Whether it keeps a history.
  var tracksHistory: Bool { get }
  /// The number of the latest transaction; 0 before the first. Numbers grow, and stay when transactions are deleted.
  /// - Throws: ``ManagedObjectError/store(_:)``, as all of these.
  func lastTransactionNumber() throws -> Int64
  /// The transactions that a query asks for, in their order.
  func transactions(_ query: HistoryQuery) throws -> [PersistentHistoryTransaction]
  /// Deletes the transactions within bounds. Returns their number.
  func deleteHistory(_ bounds: HistoryBounds) throws -> Int
  /// Sets a handler that is called, on any thread, after another coordinator or process has committed, with the number of the latest
  /// transaction if the store tracks history. The coordinator calls it once, before it uses the store. A store whose
  /// options don't ask for it does nothing.
  func followRemoteChanges(_ handler: @escaping @Sendable (_ lastTransaction: Int64?) -> Void) throws
}

/// A range of a store's history; nil for no bound.
public struct HistoryBounds: Sendable {
  /// Transactions with a greater number.
  public package(set) var after: Int64?
  /// Transactions with a lesser number.
  public package(set) var before: Int64?
  /// Transactions that were committed later.
  public package(set) var afterDate: Date?
  /// Transactions that were committed earlier.
  public package(set) var beforeDate: Date?

  package init() {}
}

/// What is read of a store's history.
public struct HistoryQuery: Sendable {
  /// The range of transactions.
  public package(set) var bounds: HistoryBounds
  /// Whether transactions come with their changes.
  public package(set) var includesChanges: Bool
  /// The authors whose transactions are wanted; nil for all.
  public package(set) var authors: Set<String>?
  /// Authors whose transactions aren't wanted.
  public package(set) var excludedAuthors: Set<String>
  /// The greatest number of transactions, 0 for all.
  public package(set) var limit: Int
}
