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
/// Source: Core Data's `NSPersistentHistoryChangeRequest`. Where that takes a fetch request over its transactions or changes,
/// `fetchHistory(withFetch:)`, this has ``transactionPredicate`` and ``changePredicate``.
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
  /// Which transactions, by `transactionNumber`, `timestamp`, `author`, `contextName`, `processID` and `storeIdentifier`; nil for
  /// all. It is evaluated for each transaction that the place and the authors select.
  ///
  /// ```swift
  /// request.transactionPredicate = try FetchPredicate(format: "contextName == %@ AND timestamp > %@", "import", yesterday)
  /// ```
  public var transactionPredicate: FetchPredicate?
  /// Which changes, by `changedObjectID`, `changedEntity` (its name), `changeType` ("insert", "update", "delete"),
  /// `updatedProperties` (a list), `changeID` and `transaction.author` and the like; nil for all. Transactions without any
  /// such change are left out.
  ///
  /// ```swift
  /// request.changePredicate = try FetchPredicate(format: "changedEntity == 'Person' AND 'age' IN updatedProperties")
  /// ```
  public var changePredicate: FetchPredicate?
  /// The greatest number of transactions, the earliest first; 0 for all.
  public var fetchLimit = 0
  /// The stores whose history is meant; nil, the default, for all. Source: `affectedStores` of Core Data's
  /// `NSPersistentStoreRequest`.
  public var affectedStores: [PersistentStore]?

  /// Everything after a token; everything for nil. Of a store that the token says nothing of, everything, if it names another
  /// store of the request.
  ///
  /// The request throws ``PersistentHistoryError/tokenExpired(storeIdentifier:transactionNumber:earliest:)`` if transactions after
  /// the token were deleted, and ``PersistentHistoryError/foreignToken(tokenStores:stores:)`` if it is of other stores.
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
  /// The place up to which the history was read: what follows comes with the next request after it. It stands after
  /// transactions that the request left out by their authors or by predicates, too, so that they aren't read again; if
  /// ``PersistentHistoryChangeRequest/fetchLimit`` cut the result, after the last of ``transactions``. nil for a deletion.
  public let lastToken: PersistentHistoryToken?
}

/// Why a request for history fails.
public enum PersistentHistoryError: Error, Sendable, Hashable, CustomStringConvertible {
  /// No store of the coordinator tracks history.
  case notTracked
  /// The token is too old: transactions after it were deleted, so what is left isn't all that happened since. `earliest` is
  /// the number of the first transaction that is left, or that the next one will have.
  ///
  /// Source: Core Data's `NSPersistentHistoryTokenExpiredError`.
  case tokenExpired(storeIdentifier: String, transactionNumber: Int64, earliest: Int64)
  /// The token is of a later state of the store than the present one: an older copy has taken the place of the file. `latest`
  /// is the number of the store's last transaction.
  case tokenAhead(storeIdentifier: String, transactionNumber: Int64, latest: Int64)
  /// The token says nothing of any store of the request: it is of other stores, or of a file that was replaced.
  case foreignToken(tokenStores: [String], stores: [String])

  /// What is missing, and what to do.
  public var description: String {
    let again = "read all objects again, and go on from currentPersistentHistoryToken()"
    switch self {
    case .notTracked:
      return "no store of the coordinator tracks history: open one with the option persistentHistoryTracking"
    case .tokenExpired(let store, let number, let earliest):
      return
        "the token has expired: it stands behind transaction \(number) of store \(store), whose history begins with "
        + "\(earliest), because what came before was deleted; \(again)"
    case .tokenAhead(let store, let number, let latest):
      return "the token stands behind transaction \(number) of store \(store), which ends with \(latest): the file was "
        + "replaced by an older one; \(again)"
    case .foreignToken(let tokenStores, let stores):
      return
        "the token is of \(tokenStores.isEmpty ? "no store" : "store " + tokenStores.joined(separator: ", ")), not of "
        + "\(stores.joined(separator: ", ")); \(again)"
    }
  }
}
