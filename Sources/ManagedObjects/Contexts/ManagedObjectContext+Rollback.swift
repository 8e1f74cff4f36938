import Dispatch

extension ManagedObjectContext {
  /// Forgets every change: new objects are gone, changed and deleted ones are as they were read.
  ///
  /// Nothing can be undone any more. Source: `rollback()` of Core Data.
  public func rollback() {
    home.check()
    for object in insertions where object.state == .inserted {
      object.state = .detached
      registry.remove(object)
      pending.noteDeleted(object)
    }
    let restored = updates + deletions
    for object in restored where object.state == .updated || object.state == .deleted {
      if !object.committed.isEmpty { object.slots = object.committed }
      object.committed = []
      object.state = object.isMissing ? .detached : .clean
      if object.isMissing { registry.remove(object) } else { pending.noteRefreshed(object) }
    }
    forgetChanges()
    if model.hasOwnClasses {
      for object in restored where object.state == .clean && object.entity.hasOwnClass {
        awake(object, from: .rollback)
      }
    }
    pending.forgetSteps()
    processPendingChanges()
    undoManager?.removeAllActions()
  }

  /// Forgets everything, changes and objects. Objects still held elsewhere keep their values and have no context.
  /// Source: `reset()` of Core Data.
  public func reset() { letGo(resetKeepingRemains()) }

  /// Lets go of objects on another thread: freeing tens of thousands takes a while. Not where a class of the program's may
  /// have something to do at its end, which belongs on the context's queue.
  func letGo(_ remains: ContextRemains) {
    guard !model.hasOwnClasses, remains.count > 256 else { return }
    DispatchQueue.global(qos: .utility).async { withExtendedLifetime(remains) {} }
  }

  /// Does what ``reset()`` does, and returns the objects, which nobody may touch any more: letting go of tens of
  /// thousands takes a while, which the caller may spend elsewhere.
  package func resetKeepingRemains() -> ContextRemains {
    home.check()
    let told = model.hasOwnClasses ? registry.objects { $0.id.scope.entity.hasOwnClass && !$0.isUnfilled } : []
    for object in told { withoutNoting(changesOf: object) { object.willTurnIntoFault() } }
    for object in deletions { object.state = .detached }
    let isEmpty = registry.count == 0
    let remains = registry.detachAll()
    for object in told { object.didTurnIntoFault() }
    forgetChanges()
    pending = PendingChanges()
    permanentIDs.removeAll()
    rowCache.forgetAll()
    deferredError = nil
    undoManager?.removeAllActions()
    if announcesChanges, !isEmpty { post(ContextChanges(resetOf: self)) }
    faultBatches = FaultBatches()
    prefetched = []
    advanceGeneration()
    observers.didReset()
    return remains
  }

  func forgetChanges() {
    insertions.removeAll(keepingCapacity: true)
    newRows = []
    updates.removeAll(keepingCapacity: true)
    deletions.removeAll(keepingCapacity: true)
    newDeletions.removeAll(keepingCapacity: true)
    hasVoidInsertions = false
    hasRelatedInsertions = false
    if !assignments.isEmpty { forgetAssignments() }
  }
}
