/// Why a transaction of many writes can't be, or can't go on.
package enum StoreTransactionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The thread is in such a transaction already.
  case nested(path: String)
  /// Something that can't be done before the transaction has ended.
  case refused(operation: String, path: String)
  /// The store has given the transaction up after an error before: nothing of it is there any more.
  case lost(path: String)
  /// A save that would write to another store than the transaction's.
  case otherStore(path: String)
  /// The store knows no such transactions.
  case unsupported(path: String)

  /// What can't be, and what to do.
  package var description: String {
    switch self {
    case .nested(let path):
      return "\(path): a transaction of this thread is open already: end it, or write within it"
    case .refused(let operation, let path):
      return "\(path): can't \(operation) while a transaction of this thread is open: end it before"
    case .lost(let path):
      return "\(path): an error has ended the transaction, and taken back what it had written: begin it anew"
    case .otherStore(let path):
      return
        "the save concerns other stores than \(path), whose transaction is open: what they wrote couldn't be taken "
        + "back with it; save them before or afterwards"
    case .unsupported(let path): return "\(path): the store can't keep several writes in one transaction"
    }
  }
}

extension StoreTransactionError {
  /// How the errors name a store.
  static func name(of store: any IncrementalStore) -> String { store.url?.path ?? "the store \(store.identifier)" }
}
