// What contexts save in a transaction of many writes is nobody else's business before the commit: each save is kept, up to
// a bound, and announced afterwards as if it had just been made. Past the bound only the entities are remembered: one save
// that tells no rows says then that all of theirs may have changed.

/// The saves of one transaction of many writes.
final class TransactionScope {
  // Touched by the thread that holds the coordinator's `saving`.
  let store: PersistentStore
  /// The greatest number of rows whose values are kept.
  private let limit: Int
  /// The number of the last save before.
  let before: Int64
  private var saves: [(context: ManagedObjectContext, save: ContextSave)] = []
  private var count = 0
  /// Once there were too many rows: the hierarchies that were written, by the indexes of their roots.
  private var changedRoots: Set<Int>?
  /// Who has saved, in the order of their first saves.
  private(set) var contexts: [ManagedObjectContext] = []

  init(_ store: PersistentStore, keeping limit: Int, after before: Int64) {
    self.store = store
    self.limit = limit
    self.before = before
  }

  /// Whether there were too many rows to keep them.
  var isWholesale: Bool { changedRoots != nil }

  /// How many numbers the saves take, once they are announced.
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

  /// What is to be announced: each save as it was, or one that stands for all of them.
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
  /// Contexts that fetch within it, on this thread, see what has been saved so far; a save that fails can be tried again,
  /// without harm to those before. Other threads see nothing of it before it is committed, then all of it. Their saves into
  /// any of the coordinator's stores wait for its end, so it is for the background. The transaction's pages that don't fit the
  /// cache go to the write-ahead log, which grows with what is written: as much free disk as the rows take is needed for it.
  ///
  /// Its saves are announced after the commit, on the queues of the contexts that made them, in their order: by did-save
  /// notifications, whose objects are those that the context still knows then, and to whoever merges by itself. Past `limit` rows no rows
  /// are kept: one save is announced for all of them, ``ContextSave/isWholesale``. After a rollback nothing is announced, and
  /// the contexts that have saved are reset, for what they hold isn't there. Permanent IDs that were given out are lost then: this
  /// program gives them to no other rows.
  ///
  /// - Parameters:
  ///   - store: where contexts save to meanwhile; nothing can be saved to another store of the coordinator.
  ///   - limit: how many rows' values are kept at most, to be announced.
  ///   - body: returns a result, and whether what was written stays. If it throws, nothing does.
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

  /// Runs it, and numbers its saves as others are numbered: nobody else saves meanwhile. Under `saving`.
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

  /// Stops what can't be done in the midst of a transaction of many writes. Under `saving`.
  func refuseInTransaction(_ operation: String) throws {
    guard let openTransaction else { return }
    throw StoreTransactionError.refused(
      operation: operation, path: StoreTransactionError.name(of: openTransaction.store.content))
  }
}

extension TransactionScope {
  /// Lets the contexts that have saved forget what isn't there.
  fileprivate func resetContexts() {
    forgetSaves()
    for context in contexts { context.performAndWait { context.reset() } }
  }

  /// Lets the contexts forget the numbers of their saves, which others will have.
  fileprivate func forgetSaves() {
    let before = before
    for context in contexts { context.performAndWait { context.mergeQueue.forgetOwnSaves(after: before) } }
  }
}

extension ManagedObjectContext {
  /// Has a save of this context announced when the transaction that it belongs to is committed.
  func keep(_ save: ContextSave) {
    persistentStoreCoordinator.keep(save, of: self)
    if persistentStoreCoordinator.followers.areBehind(save, for: self) { mergeQueue.noteOwnSave(save) }
  }

  /// Tells a save that was made earlier, with those of its objects that are known still.
  func announce(_ save: ContextSave) {
    func objects(_ ids: [ManagedObjectID]) -> ContiguousArray<ManagedObject> {
      registry.count == 0 ? [] : ContiguousArray(ids.lazy.compactMap { self.registry.object(with: $0) })
    }
    postDidSave(
      save, inserted: objects(save.insertedObjectIDs), updated: objects(save.updatedObjectIDs), deleted: [])
    deliver(save)
  }
}
