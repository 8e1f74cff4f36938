/// Why a transaction of several saves can't begin, or can't go on.
public enum StoreTransactionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The thread has such a transaction open already.
  case nested(path: String)
  /// An operation that is possible only after the end of the transaction.
  case refused(operation: String, path: String)
  /// The store has rolled the transaction back after an earlier error.
  case lost(path: String)
  /// A save that concerns another store than the transaction's.
  case otherStore(path: String)
  /// The store has no such transactions.
  case unsupported(path: String)

  /// What is impossible, and what to do.
  public var description: String {
    switch self {
    case .nested(let path):
      return "\(path): a transaction of this thread is open already: end it, or write within it"
    case .refused(let operation, let path):
      return "\(path): can't \(operation) while a transaction of this thread is open: end it before"
    case .lost(let path):
      return "\(path): an error has ended the transaction and rolled it back: begin it again"
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
