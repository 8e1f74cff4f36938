extension ManagedObjectContext {
  /// Applies the delete rules to what was deleted since the last time, unless they wait for the save, and announces what
  /// has changed with one did-change notification, which makes one step to undo.
  ///
  /// Happens by itself at the end of each `perform`, and when the context saves, merges, undoes and redoes.
  /// Source: `processPendingChanges()` of Core Data.
  public func processPendingChanges() {
    home.check()
    guard !pending.isEmpty else {
      undoManager?.endEvent()
      return observers.didProcess(PendingChanges())
    }
    let wasAtWork = isAtWork
    isAtWork = true
    defer { isAtWork = wasAtWork }
    if propagatesDeletesAtEndOfEvent { propagateDeletes() }
    let changes = pending
    pending = PendingChanges()
    for former in changes.formers { former.object.isChangePending = false }
    for object in changes.inserted { object.isChangePending = false }
    noteStep(changes)
    post(ContextChanges(self, changes))
    observers.didProcess(changes)
  }
}

extension ContextChanges {
  /// What is told of pending changes: each object once under each heading, and none that came and went meanwhile.
  fileprivate init(_ context: ManagedObjectContext, _ changes: PendingChanges) {
    self.context = context
    if context.announcesChanges {
      inserted =
        changes.inserted.contains { $0.state == .detached }
        ? changes.inserted.filter { $0.state != .detached }.map { $0 } : Array(changes.inserted)
    }
    // An import's objects are only inserted: nothing has to be told apart, and nothing hashed.
    let isOnlyNew = changes.inserted.isEmpty || (changes.deleted.isEmpty && changes.formers.isEmpty)
    let isNew = isOnlyNew ? [] : Set(changes.inserted.map(ObjectIdentifier.init))
    deleted =
      isNew.isEmpty
      ? Array(changes.deleted) : changes.deleted.filter { !isNew.contains(ObjectIdentifier($0)) }.map { $0 }
    let isRefreshed = Set(changes.refreshed.map(ObjectIdentifier.init))
    updated = changes.formers.lazy.map(\.object).filter { object in
      switch object.state {
      case .deleted, .detached: return false
      case .inserted: return !isNew.contains(ObjectIdentifier(object))
      // A set that nobody has read changed, which leaves the object clean; or a change was taken back.
      case .clean: return !isRefreshed.contains(ObjectIdentifier(object))
      case .updated: return true
      }
    }
    var seen: Set<ObjectIdentifier> = []
    refreshed = changes.refreshed.filter {
      $0.state != .detached && $0.state != .deleted && seen.insert(ObjectIdentifier($0)).inserted
    }.map { $0 }
    invalidated = Array(changes.invalidated)
  }
}
