/// How a transaction of many writes is to end.
package enum TransactionEnd: Sendable, Hashable {
  /// What was written stays.
  case commit
  /// Everything is as it was before.
  case rollBack
}
