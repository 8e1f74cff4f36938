import Dispatch

extension ManagedObjectContext {
  // MARK: Refreshing

  /// Turns an object into a fault, so that its next touch reads the store again.
  ///
  /// With `mergeChanges`, an object with unsaved changes is read again at once and keeps them, and a new object stays as it is.
  /// Without, its changes are lost, at the other end of its relationships too. A new object then becomes a fault without a
  /// row: its values are lost, it is a deleted object, and it leaves the context at the end of the event.
  /// Source: `refresh(_:mergeChanges:)` of Core Data.
  public func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    confinement.check()
    precondition(object.confinement === confinement, "an object of another context: \(object.id)")
    switch object.state {
    case .inserted where !mergeChanges:
      detachInverses(of: object)
      object.state = .deleted
      object.deletion = .ofUnsaved
      changeSet.deleteUnsaved(object)
      notifier.noteDeleted(object)
      turnIntoFault(object)
    case .deleted where !mergeChanges && object.deletion.isOfNoRow: turnIntoFault(object)
    case .inserted, .deleted, .detached: return
    case .updated where mergeChanges: reread([object])
    case .updated:
      if !object.isUnfilled { revertInverses(of: object) }
      object.state = .clean
      changeSet.removeUpdates { $0 === object }
      turnIntoFault(object)
    case .clean: turnIntoFault(object)
    }
  }

  /// Turns every object into a fault and keeps unsaved changes, as ``refresh(_:mergeChanges:)`` with `true` does.
  /// Source: `refreshAllObjects()` of Core Data.
  public func refreshAllObjects() {
    confinement.check()
    reread(ContiguousArray(changeSet.updates.lazy.filter { $0.state == .updated }))
    for object in registry.objects where object.state == .clean { turnIntoFault(object) }
  }

  /// Turns the objects of whole hierarchies into faults, and forgets sets that lead to them. Unsaved changes stay.
  func refreshObjects(ofRoots roots: Set<Int>) {
    let isMeant = { (object: ManagedObject) in roots.contains(object.entity.rootEntity.index) }
    reread(ContiguousArray(changeSet.updates.lazy.filter { $0.state == .updated && isMeant($0) }))
    for object in registry.objects where object.state == .clean && isMeant(object) { turnIntoFault(object) }
    SaveMerger(self).forgetSets(leadingToRoots: roots)
  }

  /// Has an object without changes read again when it is touched next.
  func turnIntoFaultIfClean(_ object: ManagedObject) {
    if object.state == .clean { turnIntoFault(object) }
  }

  private func turnIntoFault(_ object: ManagedObject) {
    guard !object.isUnfilled else { return object.forgetPartialValues() }
    dropValues(of: object)
    notifier.noteRefreshed(object)
    if object.entity.hasOwnClass { object.didTurnIntoFault() }
  }

  private func dropValues(of object: ManagedObject) {
    if object.entity.hasOwnClass { callbacks.awaken(object) { object.willTurnIntoFault() } }
    object.isUnfilled = true
    object.slots = object.entity.faultValues
    object.committed = []
  }

  /// Turns an object into a fault when its values may be out of date. Only the registry holds the object, so nothing sees it
  /// change, and nothing is announced: in Core Data, which holds objects weakly, it wouldn't exist any more.
  func forgetOldValues(ofUnheld object: ManagedObject) {
    // The object is registered, so the rows that children have inserted are objects, too.
    let registry = bareRegistry
    guard object.isForgettable, !registry.retainsObjects else { return }
    registry.noteVersion(sourceVersion)
    guard object.era != registry.era else { return }
    object.era = registry.era
    guard !object.isUnfilled else { return object.forgetPartialValues() }
    dropValues(of: object)
    if object.entity.hasOwnClass { object.didTurnIntoFault() }
  }

  /// Reverts the effects of the object's changes on the sets and slots of others.
  ///
  /// The object's own values stay.
  func revertInverses(of object: ManagedObject) {
    for relationship in object.entity.relationships {
      let slot = relationship.slot
      switch (object.committed[slot], object.slots[slot]) {
      case (let former, let now) where former == now: break
      case (.null, .object): object.point(relationship, to: nil)
      case (.object(let former), _): object.point(relationship, to: former)
      case (let former, let now) where relationship.isManyToMany:
        guard let former = former.objectIDs, let now = now.objectIDs else { break }
        for id in now.subtracting(former) { object.unlink(relationship, self.object(with: id)) }
        for id in former.subtracting(now) { object.link(relationship, self.object(with: id)) }
      default: break
      }
    }
  }

  /// Reads the rows of changed objects and puts their changes on top. An object whose row is gone stays as it is: the save
  /// will report it.
  private func reread(_ objects: ContiguousArray<ManagedObject>) {
    guard !objects.isEmpty, let rows = reading({ try source.rows(with: objects.map(\.id)) }) else { return }
    takePromotedIDs()
    for row in rows {
      guard let object = registry.object(with: row.id), object.state == .updated, !object.isUnfilled else {
        continue
      }
      update(object, from: row)
      // Also where nothing has changed: the program has asked for it.
      notifier.noteRefreshed(object)
    }
  }

  /// Updates an object from its row as the store has it now, with the unsaved changes on top.
  func update(_ object: ManagedObject, from row: StoreRow) {
    let sets = object.entity.relationships.filter(\.isToMany)
    if object.state == .updated {
      for relationship in sets { reread(relationship, of: object) }
    } else {
      for relationship in sets { object.slots[relationship.slot] = .unresolved }
    }
    SaveMerger(self).merge(
      StoreChanges.Update(
        id: row.id, values: row.values, committed: object.committed.isEmpty ? object.slots : object.committed))
    object.latestSave = rowSource.latestSave
    if object.entity.hasOwnClass { callbacks.awake(object, from: .refresh) }
  }

  private func reread(_ relationship: RelationshipDescription, of object: ManagedObject) {
    let slot = relationship.slot
    let (former, now) = (object.committed[slot], object.slots[slot])
    guard relationship.isManyToMany || relationship.isOrdered, former.isSet, now.isSet, former != now else {
      object.committed[slot] = .unresolved
      object.slots[slot] = .unresolved
      return
    }
    guard let stored = reading({ try source.relatedIDs(of: object.id, relationship) }) else { return }
    object.committed[slot] = stored
    object.slots[slot] = now.merging(from: former, to: stored)
  }

  // MARK: Rollback and reset

  /// Discards every change: new objects are gone, changed and deleted ones are as they were read.
  ///
  /// Nothing can be undone afterwards. Source: `rollback()` of Core Data.
  public func rollback() {
    confinement.check()
    for object in changeSet.insertions where object.state == .inserted || object.state == .deleted {
      // The deletion of a new object has been noted.
      if object.state == .inserted { notifier.noteDeleted(object) }
      object.state = .detached
      registry.remove(object)
    }
    let restored = changeSet.updates + changeSet.deletions
    for object in restored where object.state == .updated || object.state == .deleted {
      if !object.committed.isEmpty { object.slots = object.committed }
      object.committed = []
      let isRowGone = object.deletion == .ofMissingRow || object.deletion == .ofInaccessibleFault
      object.state = isRowGone ? .detached : .clean
      if isRowGone { registry.remove(object) } else { notifier.noteRefreshed(object) }
    }
    discardChanges()
    if model.hasOwnClasses {
      for object in restored where object.state == .clean && object.entity.hasOwnClass {
        callbacks.awake(object, from: .rollback)
      }
    }
    notifier.forgetUndoSteps()
    processPendingChanges()
    undoManager?.removeAllActions()
  }

  /// Discards all changes and objects. Objects held elsewhere keep their values and have no context.
  /// Source: `reset()` of Core Data.
  public func reset() { free(resetReturningObjects()) }

  /// Frees objects on another thread, because tens of thousands take a while. Where classes of the program may do something
  /// in their `deinit`, which belongs on the context's queue, the caller's release frees them.
  func free(_ objects: DetachedObjects) {
    guard !model.hasOwnClasses, objects.count > 256 else { return }
    DispatchQueue.global(qos: .utility).async { withExtendedLifetime(objects) {} }
  }

  /// Does what ``reset()`` does, and returns the objects, which must not be touched any more. Freeing tens of thousands takes a
  /// while, and the caller may do it elsewhere.
  package func resetReturningObjects() -> DetachedObjects {
    confinement.check()
    let informed = model.hasOwnClasses ? registry.objects { $0.id.scope.entity.hasOwnClass && !$0.isUnfilled } : []
    for object in informed { callbacks.awaken(object) { object.willTurnIntoFault() } }
    for object in changeSet.deletions { object.state = .detached }
    let isEmpty = registry.count == 0
    let ids = announcesChanges && AnnouncedName.didChange.isWanted ? registry.objects.map(\.id) : []
    let objects = registry.detachAll()
    for object in informed { object.didTurnIntoFault() }
    _ = changeSet.takeMergedDeletions()
    discardChanges()
    notifier.removeAll()
    fetchCache.removeAll()
    rowSource.forgetDeferredError()
    undoManager?.removeAllActions()
    if announcesChanges, !isEmpty { post(ContextChanges(resetOf: self, ids)) }
    version.add(1, ordering: .relaxed)
    rowSource.advanceGeneration()
    notifier.didReset()
    return objects
  }

  /// Empties the change set. What can be undone may bring new objects back, with their stores.
  func discardChanges() { changeSet.removeAll(keepingAssignments: undoManager != nil) }
}

extension ManagedObject.Deletion {
  /// Whether a save writes nothing for it.
  fileprivate var isOfNoRow: Bool { self == .ofUnsaved || self == .ofInaccessibleFault }
}
