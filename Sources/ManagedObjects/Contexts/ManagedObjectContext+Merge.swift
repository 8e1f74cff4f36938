public import Foundation

// Merging takes the values that the save wrote, so that it neither reads the store nor blocks: rule 2 lets the main
// queue do it. What this context doesn't know costs a look-up. What was changed here and not saved yet has the last
// word in `slots`; `committed` always becomes what the store has now.

extension ManagedObjectContext {
  /// Takes in what another context of the same coordinator saved: refreshes the objects known here, and drops deleted
  /// ones. Changes made here and not saved yet stay.
  ///
  /// To be called on this context's queue. What a sibling saved into the common parent, and the parent into its own, is
  /// taken in too. Its own saves, other coordinators', and those of its children, which it has already, are left alone.
  /// Source: `mergeChanges(fromContextDidSave:)` of Core Data, which refreshes the objects from the store; here they take
  /// the values that were saved, so saves are to be merged in the order in which they were made.
  public func mergeChanges(fromContextDidSave save: ContextSave) {
    home.check()
    guard save.coordinator === persistentStoreCoordinator, save.contextID != identity, concerns(save)
    else { return }
    // What waits was saved before this.
    mergeWaitingSaves()
    let wasAtWork = isAtWork
    isAtWork = true
    defer { isAtWork = wasAtWork }
    takePromotedIDs()
    // What is merged is nobody's to undo.
    if undoManager != nil { processPendingChanges() }
    forgetRows(of: save)
    if registry.count > 0, let roots = save.changedRoots {
      refreshObjects(ofRoots: roots)
    } else if registry.count > 0 {
      if save.isRemote { forgetSets(of: save) }
      save.forEachInsertedMember { mergeSets(of: $0.id, from: nil, to: $0.values) }
      for update in save.updated { merge(update) }
      drop(save.deleted)
      for refresh in save.refreshed { take(refresh) }
      if model.hasOwnClasses { tellMerged(save) }
    }
    observers.willProcess(save)
    processPendingChanges()
    advanceGeneration()
    postDidMerge(save)
    passDown(save)
  }

  /// Whether a save changed what this context sees: the store, or a context above.
  private func concerns(_ save: ContextSave) -> Bool {
    guard let target = save.parentID else { return true }
    var above = parent
    while let context = above {
      if target == context.identity || save.contextID == context.identity { return true }
      above = context.parent
    }
    return false
  }

  private func tellMerged(_ save: ContextSave) {
    for update in save.updated where update.id.entity.hasOwnClass {
      guard let object = registry.object(with: update.id), !object.isUnfilled else { continue }
      awake(object, from: .refresh)
    }
  }

  /// Takes in what a did-save notification tells. See ``mergeChanges(fromContextDidSave:)-(ContextSave)``.
  public func mergeChanges(fromContextDidSave notification: Notification) {
    guard let save = ContextSave(notification) else { return }
    mergeChanges(fromContextDidSave: save)
  }

  /// Takes in a row as it is in the store now, and as it was before.
  func merge(_ update: StoreChanges.Update) {
    mergeSets(of: update.id, from: update.committed, to: update.values)
    guard let object = registry.object(with: update.id), object.state != .detached else { return }
    guard !object.isUnfilled else { return object.forgetPartialValues() }
    var hasChanged = false
    for property in object.entity.properties where !property.isTransient {
      let slot = property.slot
      if let relationship = property as? RelationshipDescription, relationship.isToMany {
        // The other side of a one-to-many pair keeps its set by the rows that point to it, but not their order.
        if relationship.isManyToMany || relationship.isOrdered, object.mergeSet(update, slot) { hasChanged = true }
        continue
      }
      let isChangedHere = !object.committed.isEmpty && object.slots[slot] != object.committed[slot]
      if !object.committed.isEmpty { object.committed[slot] = update.values[slot] }
      if isChangedHere || object.slots[slot] == update.values[slot] { continue }
      object.slots[slot] = update.values[slot]
      hasChanged = true
    }
    if hasChanged { pending.noteRefreshed(object) }
  }

  /// Lets go of objects whose rows are gone. The values are those of the rows as they were last.
  func drop(_ rows: [StoreRow]) {
    guard !rows.isEmpty else { return }
    for row in rows {
      mergeSets(of: row.id, from: row.values, to: nil)
      guard let object = registry.object(with: row.id), object.state != .detached else { continue }
      object.state = .detached
      registry.remove(object)
      pending.noteDeleted(object)
    }
    updates.removeAll { $0.state == .detached }
    deletions.removeAll { $0.state == .detached }
    forgetVanished(Set(rows.map(\.id)))
  }

  /// Keeps the sets that point back to a row in step, also when the row itself isn't known here.
  func mergeSets(
    of id: ManagedObjectID, from former: ContiguousArray<Value>?, to values: ContiguousArray<Value>?
  ) {
    for relationship in id.entity.relationships {
      guard let inverse = relationship.inverseRelationship, inverse.isToMany else { continue }
      if relationship.isToMany {
        mergePairs(of: id, relationship, inverse, from: former, to: values)
        continue
      }
      let new = values?[relationship.slot] ?? .null
      let old = former.flatMap { $0.isEmpty ? nil : $0[relationship.slot] } ?? .null
      if new == old { continue }
      let isMovedHere = values != nil && registry.object(with: id)?.isMoved(relationship) == true
      if case .object(let owner) = old { change(inverse, of: owner, isMovedHere) { $0.remove(id) } }
      if case .object(let owner) = new { change(inverse, of: owner, isMovedHere) { $0.insert(id) } }
    }
  }

  /// Keeps the sets at the other end of a many-to-many pair, of which a save may tell one end only.
  private func mergePairs(
    of id: ManagedObjectID, _ relationship: RelationshipDescription, _ inverse: RelationshipDescription,
    from former: ContiguousArray<Value>?, to values: ContiguousArray<Value>?
  ) {
    let slot = relationship.slot
    let old = former.flatMap { $0.isEmpty ? nil : $0[slot].objectIDs } ?? []
    let new = values.map { $0[slot].objectIDs ?? old } ?? []
    if old == new { return }
    for owner in old.subtracting(new) { change(inverse, of: owner, false) { $0.remove(id) } }
    for owner in new.subtracting(old) { change(inverse, of: owner, false) { $0.insert(id) } }
  }

  /// Changes a set that has been read; of one that an unsaved change decides, only what the store has.
  private func change(
    _ set: RelationshipDescription, of owner: ManagedObjectID, _ isDecidedHere: Bool,
    _ change: (inout Value) -> Void
  ) {
    guard let object = registry.object(with: owner), object.state != .detached else { return }
    pending.noteRefreshed(object)
    guard object.hasResolved(set) else { return }
    if isDecidedHere, object.state == .clean {
      if object.committed.isEmpty { object.committed = object.slots }
      object.state = .updated
      updates.append(object)
    }
    if !isDecidedHere { change(&object.slots[set.slot]) }
    if !object.committed.isEmpty { change(&object.committed[set.slot]) }
  }
}

extension ManagedObject {
  /// Whether an unsaved change made here says where a to-one relationship points.
  fileprivate final func isMoved(_ relationship: RelationshipDescription) -> Bool {
    state == .deleted || (!committed.isEmpty && slots[relationship.slot] != committed[relationship.slot])
  }

  /// Adds and takes away what a save added to a set and took away, and takes on its order unless it was changed here.
  /// Returns whether a set that was read has changed.
  fileprivate final func mergeSet(_ update: StoreChanges.Update, _ slot: Int) -> Bool {
    if update.committed.isEmpty { return false }
    let (old, new) = (update.committed[slot], update.values[slot])
    guard old.isSet, new.isSet, old != new, slots[slot].isSet else { return false }
    slots[slot] = slots[slot].merging(from: old, to: new)
    if let relationship = entity.properties[slot] as? RelationshipDescription, !relationship.isManyToMany,
      let context = home.context
    {
      // Who is in it, unsaved changes of those at the other end may say differently.
      slots[slot] = context.overlayChanges(on: slots[slot], of: id, relationship)
    }
    if !committed.isEmpty { committed[slot] = committed[slot].merging(from: old, to: new) }
    return true
  }
}
