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
  ///
  /// The store calls ``HistoryBounds/check(earliest:latest:of:)`` in the transaction that it reads in, and leaves out
  /// transactions and changes that ``HistoryQuery/selects(_:)`` refuses, before it counts them.
  /// - Throws: ``PersistentHistoryError`` as well.
  func transactions(_ query: HistoryQuery) throws -> [PersistentHistoryTransaction]
  /// Deletes the transactions within bounds. Returns their number.
  func deleteHistory(_ bounds: HistoryBounds) throws -> Int
  /// Sets a handler that is called, on any thread, after commits, its own and others', with the number of the latest
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

  /// Checks that a store still has every transaction after ``after``.
  /// - Parameters:
  ///   - earliest: the number of its first transaction; nil if it has none.
  ///   - latest: the number of the last one that it ever had; 0 before the first.
  ///   - identifier: the store's identifier.
  /// - Throws: ``PersistentHistoryError/tokenExpired(storeIdentifier:transactionNumber:earliest:)``,
  ///   ``PersistentHistoryError/tokenAhead(storeIdentifier:transactionNumber:latest:)``.
  public func check(earliest: Int64?, latest: Int64, of identifier: String) throws(PersistentHistoryError) {
    guard let after else { return }
    guard after <= latest else {
      throw .tokenAhead(storeIdentifier: identifier, transactionNumber: after, latest: latest)
    }
    let earliest = earliest ?? latest + 1
    guard after >= earliest - 1 else {
      throw .tokenExpired(storeIdentifier: identifier, transactionNumber: after, earliest: earliest)
    }
  }
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
  /// Which transactions are wanted, apart from these; nil for all.
  package var transactionPredicate: FetchPredicate?
  /// Which of their changes are wanted; nil for all.
  package var changePredicate: FetchPredicate?

  /// Whether it depends on the changes of a transaction whether it is wanted.
  public var selectsByChanges: Bool { changePredicate != nil }
  /// Whether transactions are left out by more than the bounds and authors, so that a limit counts what
  /// ``selects(_:)`` lets through.
  public var selectsByPredicate: Bool { transactionPredicate != nil || changePredicate != nil }

  /// The transaction as it is wanted, given with all of its changes if ``includesChanges`` or ``selectsByChanges``: with the
  /// changes that are wanted; nil if it isn't.
  /// - Throws: ``FetchPredicateError`` when a value doesn't fit a predicate.
  public func selects(_ transaction: PersistentHistoryTransaction) throws -> PersistentHistoryTransaction? {
    if let transactionPredicate, try !transactionPredicate.evaluate(on: HistoryRecord(transaction)) { return nil }
    guard let changePredicate else { return transaction }
    let wanted = try (transaction.changes ?? []).filter { change in
      try changePredicate.evaluate(on: HistoryRecord(change, of: transaction))
    }
    if wanted.isEmpty { return nil }
    return PersistentHistoryTransaction(
      transactionNumber: transaction.transactionNumber, timestamp: transaction.timestamp, author: transaction.author,
      contextName: transaction.contextName, processID: transaction.processID,
      storeIdentifier: transaction.storeIdentifier, changes: includesChanges ? wanted : nil)
  }
}
