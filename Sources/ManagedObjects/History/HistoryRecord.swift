import Spelling

/// A transaction or a change as history's predicates see it: values by name.
struct HistoryRecord {
  let values: [String: Any?]

  init(_ transaction: PersistentHistoryTransaction) {
    values = [
      "transactionNumber": transaction.transactionNumber, "timestamp": transaction.timestamp,
      "author": transaction.author, "contextName": transaction.contextName,
      "processID": Int64(transaction.processID), "storeIdentifier": transaction.storeIdentifier,
    ]
  }

  init(_ change: PersistentHistoryChange, of transaction: PersistentHistoryTransaction) {
    values = [
      "changeID": change.changeID, "changedObjectID": change.changedObjectID,
      "changedEntity": change.changedObjectID.entity.name, "changeType": change.changeType.rawValue,
      "updatedProperties": change.updatedProperties.sorted(), "transaction": HistoryRecord(transaction).values,
    ]
  }

  /// The names of a transaction's values.
  static let ofTransactions: Set<String> = [
    "transactionNumber", "timestamp", "author", "contextName", "processID", "storeIdentifier",
  ]
  /// The names of a change's values.
  static let ofChanges = Set(ofTransactions.map { "transaction." + $0 }).union([
    "changeID", "changedObjectID", "changedEntity", "changeType", "updatedProperties",
  ])
}

extension FetchPredicate {
  /// Whether the predicate is true for a record.
  func evaluate(on record: HistoryRecord) throws(FetchPredicateError) -> Bool { try evaluate(with: record.values) }

  /// - Throws: ``FetchPredicateError/unknownProperty(name:entity:nearest:known:)`` with a name that isn't among `names`.
  func check(_ names: Set<String>) throws(FetchPredicateError) {
    _ = try replacingLeaves { leaf throws(FetchPredicateError) in
      guard case .keyPath(let path) = leaf else { return nil }
      let name = path.prefix { !$0.hasPrefix("@") }.joined(separator: ".")
      guard names.contains(name) else {
        throw .unknownProperty(
          name: name, entity: "the history", nearest: NearestName.of(name, among: names.sorted()),
          known: names.sorted())
      }
      return nil
    }
  }
}
