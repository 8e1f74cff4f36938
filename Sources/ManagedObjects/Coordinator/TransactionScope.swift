// Saves within a transaction of several writes stay private until the commit: each save is kept, up to a limit, and announced
// afterwards as if it had just been made. Beyond the limit only the entities are kept, and one save without rows announces
// that any of their rows may have changed.

/// The saves of one transaction of several writes.
final class TransactionScope {
  // Accessed only by the thread that holds the coordinator's `saving`.
  let store: PersistentStore
  /// The greatest number of rows whose values are kept.
  private let limit: Int
  /// The number of the last save before the transaction.
  let before: Int64
  private var saves: [(context: ManagedObjectContext, save: ContextSave)] = []
  private var count = 0
  /// The hierarchies that were written, by the indexes of their roots; nil while the rows are kept.
  private var changedRoots: Set<Int>?
  /// The contexts that have saved, in the order of their first saves.
  private(set) var contexts: [ManagedObjectContext] = []

  init(_ store: PersistentStore, keeping limit: Int, after before: Int64) {
    self.store = store
    self.limit = limit
    self.before = before
  }

  /// Whether there are too many rows to keep them.
  var isWholesale: Bool { changedRoots != nil }

  /// How many save numbers the announcement takes.
  var numberOfSaves: Int64 { changedRoots == nil ? Int64(saves.count) : 1 }

  /// Keeps a save until the commit.
  func keep(_ save: ContextSave, of context: ManagedObjectContext) {
    if !contexts.contains(where: { $0 === context }) { contexts.append(context) }
    saves.append((context, save))
    count += save.rowCount
    guard changedRoots != nil || count > limit else { return }
    var roots = changedRoots ?? []
    for (_, save) in saves { save.noteRoots(in: &roots, context.model) }
    changedRoots = roots
    saves = []
  }

  /// The saves to announce: each as it was, or one that stands for all of them.
  func announcements() -> [(context: ManagedObjectContext, save: ContextSave)] {
    var announcements = saves
    if let changedRoots, let last = contexts.last {
      announcements = [(last, ContextSave(wholesaleOf: last.persistentStoreCoordinator, changedRoots, by: last))]
    }
    for index in announcements.indices { announcements[index].save.number = before + 1 + Int64(index) }
    return announcements
  }
}

extension PersistentStoreCoordinator {
  /// Runs `body` with everything that it reads from a store and writes to it on the calling thread in one transaction.
  ///
  /// Contexts that fetch within it, on this thread, see everything saved so far. A save that fails can be tried again without
  /// harm to earlier ones. Other threads see nothing of it before the commit, then all of it. Their saves into any of the
  /// coordinator's stores wait for its end, so it belongs in the background. The store keeps what is written in its log until
  /// the commit, and needs as much free disk space as the rows take.
  ///
  /// Its saves are announced after the commit, on the queues of the contexts that made them, in their order: by did-save
  /// notifications, with the objects that the context still knows, and to contexts that merge automatically. Beyond `limit`
  /// rows no rows are kept, and one save that ``ContextSave/isWholesale`` is announced for all of them. After a rollback nothing
  /// is announced, and the contexts that have saved are reset, because their objects don't exist. Permanent IDs that were given
  /// out are then lost: the process gives them to no other rows.
  ///
  /// - Parameters:
  ///   - store: the store that contexts save to; nothing can be saved to another store of the coordinator.
  ///   - limit: the greatest number of rows whose values are kept for the announcement.
  ///   - body: returns a result, and whether to commit. If it throws, the transaction is rolled back.
  /// - Throws: what `body` throws; ``StoreTransactionError``; ``PersistentStoreError/unknownStore(identifier:)``; the store's error,
  ///   when it refuses the commit, and nothing is written then.
  package func inOneTransaction<T>(
    of store: PersistentStore, keeping limit: Int = 50_000, _ body: () throws -> (T, TransactionEnd)
  ) throws -> T {
    let (outcome, openTransaction) = try saving.withLock { try runTransaction(of: store, limit, body) }
    switch outcome {
    case .success((let result, .commit)):
      if openTransaction.isWholesale { openTransaction.forgetSaves() }
      for (context, save) in openTransaction.announcements() { context.performAndWait { context.announce(save) } }
      return result
    case .success((let result, .rollBack)):
      openTransaction.resetContexts()
      return result
    case .failure(let error):
      openTransaction.resetContexts()
      throw error
    }
  }

  /// Runs it, and numbers its saves as others are numbered: no other save can come in between. Under `saving`.
  private func runTransaction<T>(
    of store: PersistentStore, _ limit: Int, _ body: () throws -> (T, TransactionEnd)
  ) throws -> (Result<(T, TransactionEnd), any Error>, TransactionScope) {
    if let openTransaction {
      throw StoreTransactionError.nested(path: StoreTransactionError.name(of: openTransaction.store.content))
    }
    guard persistentStores.contains(store) else {
      throw PersistentStoreError.unknownStore(identifier: store.identifier)
    }
    let before = lastSave
    let new = TransactionScope(store, keeping: limit, after: before)
    openTransaction = new
    defer { openTransaction = nil }
    let outcome = Result {
      try store.content.inOneTransaction { () -> ((T, TransactionEnd), TransactionEnd) in
        let ending = try body()
        return (ending, ending.1)
      }
    }
    if case .success((_, .commit)) = outcome { lastSave = before + new.numberOfSaves } else { lastSave = before }
    return (outcome, new)
  }

  fileprivate func keep(_ save: ContextSave, of context: ManagedObjectContext) {
    saving.withLock { openTransaction?.keep(save, of: context) }
  }

  /// Refuses an operation that is impossible within a transaction of several writes. Under `saving`.
  func refuseInTransaction(_ operation: String) throws {
    guard let openTransaction else { return }
    throw StoreTransactionError.refused(
      operation: operation, path: StoreTransactionError.name(of: openTransaction.store.content))
  }
}

extension TransactionScope {
  /// Resets the contexts that have saved rows which don't exist.
  fileprivate func resetContexts() {
    forgetSaves()
    for context in contexts { context.performAndWait { context.reset() } }
  }

  /// Makes the contexts forget the numbers of their saves, which later saves will have.
  fileprivate func forgetSaves() {
    let before = before
    for context in contexts { context.performAndWait { context.mergeQueue.forgetOwnSaves(after: before) } }
  }
}

extension ManagedObjectContext {
  /// Keeps a save of this context, to be announced when its transaction is committed.
  func keep(_ save: ContextSave) {
    persistentStoreCoordinator.keep(save, of: self)
    if persistentStoreCoordinator.followers.areBehind(save, for: self) { mergeQueue.noteOwnSave(save) }
  }

  /// Announces an earlier save, with those of its objects that the context still knows.
  func announce(_ save: ContextSave) {
    func objects(_ ids: [ManagedObjectID]) -> ContiguousArray<ManagedObject> {
      registry.count == 0 ? [] : ContiguousArray(ids.lazy.compactMap { self.registry.object(with: $0) })
    }
    postDidSave(
      save, inserted: objects(save.insertedObjectIDs), updated: objects(save.updatedObjectIDs), deleted: [])
    deliver(save)
  }
}
