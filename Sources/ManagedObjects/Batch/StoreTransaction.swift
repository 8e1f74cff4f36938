/// A store within an exclusive write transaction. Batch requests are implemented once, in terms of it, so all stores behave the
/// same.
package protocol StoreTransaction: StoreReader {
  /// Writes changes as a save does, whole or not at all. The rows are as they were read in the same transaction.
  func write(_ changes: StoreChanges) throws -> StoreWriteResult
}
