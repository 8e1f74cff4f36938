extension ManagedObjectContext {
  /// Reads or deletes history. Called on the context's queue; blocks for the store.
  ///
  /// Source: `execute(_:)` of Core Data with an `NSPersistentHistoryChangeRequest`.
  /// - Throws: ``PersistentHistoryError``, ``FetchPredicateError`` for a predicate that doesn't fit, or the store's error.
  @discardableResult
  public func execute(_ request: PersistentHistoryChangeRequest) throws -> PersistentHistoryResult {
    confinement.check()
    return try persistentStoreCoordinator.execute(request)
  }
}

extension PersistentStoreCoordinator {
  /// The place in the history after everything that was committed up to now; nil when no store tracks history.
  /// Source: `currentPersistentHistoryToken(fromStores:)` of Core Data.
  /// - Parameter fromStores: whose history; nil for that of all stores.
  /// - Throws: the store's error.
  public func currentPersistentHistoryToken(
    fromStores: [PersistentStore]? = nil
  ) throws -> PersistentHistoryToken? {
    let stores = historyStores(among: fromStores)
    guard !stores.isEmpty else { return nil }
    var numbers: [String: Int64] = [:]
    for store in stores { numbers[store.identifier] = try store.lastTransactionNumber() }
    return PersistentHistoryToken(numbers)
  }

  private func historyStores(among affected: [PersistentStore]?) -> [any HistoryKeeping] {
    persistentStores.filter { affected?.contains($0) ?? true }.compactMap { $0.content as? any HistoryKeeping }
      .filter(\.tracksHistory)
  }

  func execute(_ request: PersistentHistoryChangeRequest) throws -> PersistentHistoryResult {
    let stores = historyStores(among: request.affectedStores)
    guard !stores.isEmpty else { throw PersistentHistoryError.notTracked }
    if case .delete = request.action {
      for store in persistentStores where stores.contains(where: { $0.identifier == store.identifier }) {
        _ = try store.writableContent(to: "delete history")
      }
    }
    try request.check(stores.map(\.identifier))
    var transactions: [PersistentHistoryTransaction] = []
    var deleted = 0
    // What a token says of stores that the request doesn't concern stays.
    var places = request.places
    for store in stores {
      switch request.action {
      case .fetch(let place):
        guard let bounds = bounds(after: place, of: store) else { continue }
        let limit = request.fetchLimit > 0 ? request.fetchLimit - transactions.count : 0
        if request.fetchLimit > 0, limit <= 0 { continue }
        // Before the transactions are read: later ones may be among them, and are read again then, but none is left out.
        let latest = try store.lastTransactionNumber()
        let found = try store.transactions(
          HistoryQuery(
            bounds: bounds, includesChanges: request.includesChanges, authors: request.authors,
            excludedAuthors: request.excludedAuthors, limit: limit,
            transactionPredicate: request.transactionPredicate, changePredicate: request.changePredicate))
        let last = found.last?.transactionNumber
        places[store.identifier] = limit > 0 && found.count == limit ? last : max(latest, last ?? 0)
        transactions += found
      case .delete(let place):
        guard let bounds = bounds(before: place, of: store) else { continue }
        deleted += try store.deleteHistory(bounds)
      }
    }
    let token: PersistentHistoryToken? = if case .fetch = request.action { PersistentHistoryToken(places) } else { nil }
    return PersistentHistoryResult(transactions: transactions, deletedCount: deleted, lastToken: token)
  }

  /// nil when the place isn't of the store.
  private func bounds(
    after place: PersistentHistoryChangeRequest.Place?, of store: any HistoryKeeping
  ) -> HistoryBounds? {
    var bounds = HistoryBounds()
    switch place {
    case nil: break
    case .token(let token): bounds.after = token.transactionNumber(ofStore: store.identifier)
    case .date(let date): bounds.afterDate = date
    case .transaction(let transaction):
      guard transaction.storeIdentifier == store.identifier else { return nil }
      bounds.after = transaction.transactionNumber
    }
    return bounds
  }

  private func bounds(
    before place: PersistentHistoryChangeRequest.Place?, of store: any HistoryKeeping
  ) -> HistoryBounds? {
    var bounds = HistoryBounds()
    switch place {
    case nil: break
    case .token(let token):
      guard let number = token.transactionNumber(ofStore: store.identifier) else { return nil }
      bounds.before = number + 1
    case .date(let date): bounds.beforeDate = date
    case .transaction(let transaction):
      guard transaction.storeIdentifier == store.identifier else { return nil }
      bounds.before = transaction.transactionNumber
    }
    return bounds
  }
}

extension PersistentHistoryChangeRequest {
  /// The numbers of the token that a fetch begins after, by the stores' identifiers.
  fileprivate var places: [String: Int64] {
    if case .fetch(after: .token(let token)?) = action { token.numbers } else { [:] }
  }

  /// Checks the request against the stores that it concerns: its place must be of one of them, and its predicates ask what
  /// history has.
  fileprivate func check(_ stores: [String]) throws {
    let place: Place?
    switch action {
    case .fetch(let after): place = after
    case .delete(let before): place = before
    }
    var named: [String]?
    switch place {
    case .token(let token): named = token.numbers.keys.sorted()
    case .transaction(let transaction): named = [transaction.storeIdentifier]
    case .date, nil: break
    }
    if let named, !named.contains(where: stores.contains) {
      throw PersistentHistoryError.foreignToken(tokenStores: named, stores: stores.sorted())
    }
    try transactionPredicate?.check(HistoryRecord.ofTransactions)
    try changePredicate?.check(HistoryRecord.ofChanges)
  }
}
