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
  private var saves: [(context: ContextQueue, save: ContextSave)] = []
  private var count = 0
  /// The hierarchies that were written, by the indexes of their roots; nil while the rows are kept.
  private var changedRoots: Set<Int>?
  /// The contexts that have saved, in the order of their first saves.
  private(set) var contexts: [ContextQueue] = []

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
  func keep(_ save: ContextSave, of context: ContextQueue) {
    if !contexts.contains(where: { $0 == context }) { contexts.append(context) }
    saves.append((context, save))
    count += save.rowCount
    guard changedRoots != nil || count > limit else { return }
    var roots = changedRoots ?? []
    for (_, save) in saves { save.noteRoots(in: &roots, context.model) }
    changedRoots = roots
    saves = []
  }

  /// The saves to announce: each as it was, or one that stands for all of them.
  func announcements() -> [(context: ContextQueue, save: ContextSave)] {
    var announcements = saves
    if let changedRoots, let last = contexts.last {
      announcements = [
        (last, ContextSave(wholesaleOf: last.persistentStoreCoordinator, changedRoots, by: last.uncheckedContext))
      ]
    }
    for index in announcements.indices { announcements[index].save.number = before + 1 + Int64(index) }
    return announcements
  }
}

extension TransactionScope {
  /// Resets the contexts that have saved rows which don't exist.
  func resetContexts() {
    forgetSaves()
    for context in contexts { context.run { context in context.reset() } }
  }

  /// Makes the contexts forget the numbers of their saves, which later saves will have.
  func forgetSaves() {
    let before = before
    for context in contexts { context.run { context in context.mergeQueue.forgetOwnSaves(after: before) } }
  }
}

extension ManagedObjectContext {
  /// Keeps a save of this context, to be announced when its transaction is committed.
  func keep(_ save: ContextSave) {
    persistentStoreCoordinator.keep(save, of: queue)
    if persistentStoreCoordinator.followers.areBehind(save, for: queue) { mergeQueue.noteOwnSave(save) }
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
