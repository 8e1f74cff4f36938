/// Merges another context's save into a context.
///
/// A merge takes the values that the save wrote. It neither reads the store nor blocks, so rule 2 (ARCHITECTURE.md) lets the
/// main queue do it. An object that isn't registered costs one look-up. Unsaved changes made here keep the last word in
/// `slots`; `committed` always becomes what the store has now.
struct SaveMerger {
  let context: ManagedObjectContext
  // Other contexts' saves don't concern rows that this one has yet to save.
  private var registry: ObjectRegistry { context.bareRegistry }
  private var notifier: ChangeNotifier { context.notifier }

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Takes in what the save wrote to registered objects.
  func merge(_ save: ContextSave) {
    notifier.noteMerged(save)
    guard registry.count > 0 else { return }
    if let roots = save.changedRoots { return context.refreshObjects(ofRoots: roots) }
    if save.isRemote { forgetSets(of: save) }
    save.forEachInsertedMember { mergeSets(of: $0.id, from: nil, to: $0.values) }
    var refreshed: [ManagedObject] = []
    for index in save.updated.indices {
      guard let object = merge(save.updated[index]) else { continue }
      object.latestSave = max(object.latestSave, save.number)
      guard object.entity.hasOwnClass else { continue }
      refreshed.append(object)
    }
    for id in save.unwritten {
      if let owner = registry.object(with: id) { owner.latestSave = max(owner.latestSave, save.number) }
    }
    remove(save.deleted)
    for refresh in save.refreshed { merge(refresh) }
    for object in refreshed where !object.isUnfilled && object.state != .detached {
      context.callbacks.awake(object, from: .refresh)
    }
  }

  // MARK: Rows

  /// Takes in a row as it is in the store now, and as it was before. Returns its object if that is registered and has its
  /// values.
  @discardableResult
  func merge(_ update: StoreChanges.Update) -> ManagedObject? {
    if update.id.scope.entity.joinsSets { mergeSets(of: update.id, from: update.committed, to: update.values) }
    guard let object = registry.object(with: update.id), object.state != .detached else { return nil }
    guard !object.isUnfilled else {
      object.forgetPartialValues()
      return nil
    }
    var hasChanged = false
    for property in object.entity.properties where !property.isTransient {
      let slot = property.slot
      if let relationship = property as? RelationshipDescription, relationship.isToMany {
        // In a one-to-many pair the rows that point to the set decide who is in it, but not their order.
        if relationship.isManyToMany || relationship.isOrdered, object.mergeSet(update, slot) { hasChanged = true }
        continue
      }
      let isChangedHere = !object.committed.isEmpty && object.slots[slot] != object.committed[slot]
      if !object.committed.isEmpty { object.committed[slot] = update.values[slot] }
      if isChangedHere || object.slots[slot] == update.values[slot] { continue }
      object.slots[slot] = update.values[slot]
      hasChanged = true
    }
    if hasChanged { notifier.noteRefreshed(object) }
    return object
  }

  /// Takes in the derived attributes of one row.
  func merge(_ refresh: StoreWriteResult.Refresh) {
    guard let object = registry.object(with: refresh.id), object.state != .detached else { return }
    guard !object.isUnfilled else { return object.forgetPartialValues() }
    var hasChanged = false
    for (slot, value) in refresh.values {
      if !object.committed.isEmpty { object.committed[slot] = value }
      if object.slots[slot] == value { continue }
      object.slots[slot] = value
      hasChanged = true
    }
    if hasChanged { notifier.noteRefreshed(object) }
  }

  /// Takes in the derived attributes that the store computed in the transaction of the context's own save: in the registered
  /// objects and in the announcement of the save. Returns those of rows that the save doesn't list otherwise.
  func merge(
    _ refreshed: [StoreWriteResult.Refresh], into changes: inout StoreChanges
  ) -> [StoreWriteResult.Refresh] {
    guard !refreshed.isEmpty else { return [] }
    let byID = Dictionary(refreshed.map { ($0.id, $0) }) { $1 }
    var listed: Set<ManagedObjectID> = []
    for index in changes.inserted.indices {
      guard let refresh = byID[changes.inserted[index].id] else { continue }
      for (slot, value) in refresh.values { changes.inserted[index].values[slot] = value }
      listed.insert(refresh.id)
    }
    for index in changes.updated.indices {
      guard let refresh = byID[changes.updated[index].id] else { continue }
      for (slot, value) in refresh.values { changes.updated[index].values[slot] = value }
      // A row that isn't written isn't announced with its values.
      if changes.updated[index].isWritten { listed.insert(refresh.id) }
    }
    for refresh in refreshed { merge(refresh) }
    return refreshed.filter { !listed.contains($0.id) }
  }

  /// Marks objects as deleted whose rows are gone. They leave the context at the end of the event. The values are those that
  /// the rows had last.
  func remove(_ rows: [StoreRow]) {
    guard !rows.isEmpty else { return }
    var gone: [ManagedObject] = []
    var deletedHere: Set<ObjectIdentifier> = []
    for row in rows {
      mergeSets(of: row.id, from: row.values, to: nil)
      guard let object = registry.object(with: row.id), object.state != .detached else { continue }
      if object.state == .deleted { deletedHere.insert(ObjectIdentifier(object)) }
      object.state = .deleted
      object.deletion = .ofInaccessibleFault
      gone.append(object)
      notifier.noteDeleted(object)
    }
    if !gone.isEmpty {
      context.changeSet.deleteMerged(gone, deletedHere: deletedHere)
      context.changeSet.removeUpdates { $0.state == .deleted }
    }
    DeleteRules(context).removeReferences(to: Set(rows.map(\.id)))
  }

  // MARK: Sets

  /// Keeps the sets that point back to a row in step, even when the row itself isn't registered.
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

  /// Keeps the sets at the other end of a many-to-many pair in step. A save may list only one end.
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

  /// Changes a set that has been read. Where an unsaved change decides the set, only its committed value changes.
  private func change(
    _ set: RelationshipDescription, of owner: ManagedObjectID, _ isDecidedHere: Bool,
    _ change: (inout Value) -> Void
  ) {
    guard let object = registry.object(with: owner), object.state != .detached else { return }
    notifier.noteRefreshed(object)
    guard object.hasResolved(set) else { return }
    if isDecidedHere, object.state == .clean {
      if object.committed.isEmpty { object.committed = object.slots }
      object.state = .updated
      context.changeSet.update(object)
    }
    if !isDecidedHere { change(&object.slots[set.slot]) }
    if !object.committed.isEmpty { change(&object.committed[set.slot]) }
  }

  /// Forgets sets, and the order of sets, in which objects of the save's entities may have come or gone.
  private func forgetSets(of save: ContextSave) {
    let ids = save.insertedObjectIDs + save.updatedObjectIDs + save.deletedObjectIDs
    forgetSets(leadingToRoots: Set(ids.map(\.entity.rootEntity.index)))
  }

  /// Forgets sets, and the order of sets, in which objects of whole hierarchies may have come or gone.
  func forgetSets(leadingToRoots roots: Set<Int>) {
    for object in registry.objects where !object.isUnfilled && object.state != .detached {
      var isChanged = false
      for relationship in object.entity.relationships where relationship.isToMany && object.hasResolved(relationship) {
        guard roots.contains(relationship.destinationEntity.rootEntity.index) else { continue }
        let slot = relationship.slot
        switch object.state {
        case .inserted, .deleted, .detached: continue
        case .updated where !object.committed.isEmpty && object.slots[slot] != object.committed[slot]: continue
        case .updated, .clean: break
        }
        object.slots[slot] = .unresolved
        if !object.committed.isEmpty { object.committed[slot] = .unresolved }
        isChanged = true
      }
      if isChanged { notifier.noteRefreshed(object) }
    }
  }
}

extension ManagedObject {
  /// Whether an unsaved change decides where a to-one relationship points.
  fileprivate final func isMoved(_ relationship: RelationshipDescription) -> Bool {
    state == .deleted || (!committed.isEmpty && slots[relationship.slot] != committed[relationship.slot])
  }

  /// Applies to a set what a save added and removed, and its new order unless the order was changed here. Returns whether a
  /// set that has been read changed.
  fileprivate final func mergeSet(_ update: StoreChanges.Update, _ slot: Int) -> Bool {
    if update.committed.isEmpty { return false }
    let (old, new) = (update.committed[slot], update.values[slot])
    guard old.isSet, new.isSet, old != new, slots[slot].isSet else { return false }
    slots[slot] = slots[slot].merging(from: old, to: new)
    if let relationship = entity.properties[slot] as? RelationshipDescription, !relationship.isManyToMany,
      let context = confinement.context
    {
      // Unsaved changes at the other end may say differently who is in it.
      slots[slot] = context.overlayChanges(on: slots[slot], of: id, relationship)
    }
    if !committed.isEmpty { committed[slot] = committed[slot].merging(from: old, to: new) }
    return true
  }
}
