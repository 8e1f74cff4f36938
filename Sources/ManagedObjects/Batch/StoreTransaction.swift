/// A store in the middle of a transaction that nobody else writes into. What batch requests do is said once, in terms of
/// it, so that all stores do the same.
package protocol StoreTransaction: StoreReader {
  /// Writes changes as a save does, whole or not at all. The rows are as they were read in the same transaction.
  func write(_ changes: StoreChanges) throws -> StoreWriteResult
}
