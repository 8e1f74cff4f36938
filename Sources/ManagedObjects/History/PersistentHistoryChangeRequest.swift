public import Foundation

/// Asks for a coordinator's history, or for a part of it to be deleted.
///
/// ```swift
/// let result = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: token))
/// for transaction in result.transactions where transaction.author != "import" { … }
/// try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: lastWeek))
/// ```
///
/// Only stores that track history have one: `SQLiteStoreOptions.persistentHistoryTracking`.
/// Source: Core Data's `NSPersistentHistoryChangeRequest`. Where that takes a fetch request over its transactions, this
/// has ``authors`` and ``excludedAuthors``.
public struct PersistentHistoryChangeRequest: Sendable {
  /// A place in the history.
  package enum Place: Sendable {
    case token(PersistentHistoryToken)
    case date(Date)
    case transaction(PersistentHistoryTransaction)
  }

  /// The operation.
  package enum Action: Sendable {
    case fetch(after: Place?)
    case delete(before: Place?)
  }

  package let action: Action
  /// Whether a fetch returns the changes of each transaction.
  public var includesChanges = true
  /// Only transactions of these authors; nil for all, also those without an author.
  public var authors: Set<String>?
  /// No transactions of these authors, such as the program itself.
  public var excludedAuthors: Set<String> = []
  /// The greatest number of transactions, the earliest first; 0 for all.
  public var fetchLimit = 0
  /// The stores whose history is meant; nil, the default, for all. Source: `affectedStores` of Core Data's
  /// `NSPersistentStoreRequest`.
  public var affectedStores: [PersistentStore]?

  /// Everything after a token; everything for nil.
  public static func fetchHistory(after token: PersistentHistoryToken?) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(action: .fetch(after: token.map(Place.token)))
  }

  /// Everything that was committed after a date.
  public static func fetchHistory(after date: Date) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(action: .fetch(after: .date(date)))
  }

  /// Everything after a transaction, of its store.
  public static func fetchHistory(
    after transaction: PersistentHistoryTransaction
  ) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(action: .fetch(after: .transaction(transaction)))
  }

  /// Deletes everything up to a token, including the token's own transactions, which ``fetchHistory(after:)`` leaves out;
  /// everything for nil.
  public static func deleteHistory(before token: PersistentHistoryToken?) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(action: .delete(before: token.map(Place.token)))
  }

  /// Deletes everything that was committed before a date.
  public static func deleteHistory(before date: Date) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(action: .delete(before: .date(date)))
  }

  /// Deletes everything before a transaction, of its store.
  public static func deleteHistory(
    before transaction: PersistentHistoryTransaction
  ) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(action: .delete(before: .transaction(transaction)))
  }
}

/// The result of a history request.
public struct PersistentHistoryResult: Sendable {
  /// The transactions, store by store in the order of their commits.
  public let transactions: [PersistentHistoryTransaction]
  /// How many transactions were deleted.
  public let deletedCount: Int
  /// Every change of the transactions, in order.
  public var changes: [PersistentHistoryChange] { transactions.flatMap { $0.changes ?? [] } }
  /// The changed objects, each once.
  public var objectIDs: Set<ManagedObjectID> { Set(changes.map(\.changedObjectID)) }
  /// The place after the last of the transactions; nil when there are none.
  public var lastToken: PersistentHistoryToken? {
    transactions.reduce(nil) { token, next in token?.merging(next.token) ?? next.token }
  }
}

/// Why there is no history.
public enum PersistentHistoryError: Error, Sendable, Hashable, CustomStringConvertible {
  /// No store of the coordinator tracks history.
  case notTracked

  /// What is missing, and what to do.
  public var description: String {
    "no store of the coordinator tracks history: open one with the option persistentHistoryTracking"
  }
}
