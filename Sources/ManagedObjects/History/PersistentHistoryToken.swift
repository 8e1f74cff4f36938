/// A place in the history of a coordinator's stores: everything up to it has been seen.
///
/// Source: Core Data's `NSPersistentHistoryToken`; a value here, which can be kept as JSON between runs.
public struct PersistentHistoryToken: Sendable, Hashable, Codable {
  /// The number of the last transaction, by the store's identifier.
  let numbers: [String: Int64]

  package init(_ numbers: [String: Int64]) { self.numbers = numbers }

  /// The number of the last transaction that the token includes, of a store; nil when it says nothing of the store.
  public func transactionNumber(ofStore identifier: String) -> Int64? { numbers[identifier] }

  /// The later place of both, store by store.
  public func merging(_ other: PersistentHistoryToken) -> PersistentHistoryToken {
    PersistentHistoryToken(numbers.merging(other.numbers) { max($0, $1) })
  }
}
