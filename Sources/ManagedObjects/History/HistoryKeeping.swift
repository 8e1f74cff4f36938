package import Foundation

/// A store that can keep a history of its transactions, and tell of those of other coordinators and processes. Safe
/// from any thread.
package protocol HistoryKeeping: IncrementalStore {
  /// Whether it keeps one.
  var tracksHistory: Bool { get }
  /// The number of the latest transaction; 0 before the first.
  func lastTransactionNumber() throws -> Int64
  /// Transactions within bounds, in order.
  func transactions(_ query: HistoryQuery) throws -> [PersistentHistoryTransaction]
  /// Deletes transactions within bounds. Returns how many.
  func deleteHistory(_ bounds: HistoryBounds) throws -> Int
  /// Says who is told when somebody else has committed. Called once, before the store is used; does nothing if the
  /// store's options don't ask for it.
  func followRemoteChanges(_ handler: @escaping @Sendable (_ lastTransaction: Int64?) -> Void) throws
}

/// Which transactions; nil for no bound.
package struct HistoryBounds: Sendable {
  /// Transactions with a greater number.
  package var after: Int64?
  /// Transactions with a lesser number.
  package var before: Int64?
  /// Transactions committed later.
  package var afterDate: Date?
  /// Transactions committed earlier.
  package var beforeDate: Date?

  package init() {}
}

/// What is asked of a store's history.
package struct HistoryQuery: Sendable {
  package var bounds: HistoryBounds
  package var includesChanges: Bool
  package var authors: Set<String>?
  package var excludedAuthors: Set<String>
  /// 0 for all.
  package var limit: Int
}
