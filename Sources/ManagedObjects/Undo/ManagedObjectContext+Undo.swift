// An event is taken back by doing the opposite: what it deleted is there again, what it changed is changed back, what it
// inserted is deleted. That is an event like any other, whose opposite is what redoes it; saves in between change nothing
// about it. What a save deleted and an undo brings back is inserted again under the ID it had.

extension ManagedObjectContext {
  /// Takes back the last step of changes: see ``UndoManager``. Nothing happens without an ``undoManager``.
  /// Source: `undo()` of Core Data.
  public func undo() {
    home.check()
    undoManager?.undo()
  }

  /// Does again what was undone last. Source: `redo()` of Core Data.
  public func redo() {
    home.check()
    undoManager?.redo()
  }

  func followUndoManager(insteadOf former: UndoManager?) {
    home.check()
    guard undoManager !== former else { return }
    former?.leave(self)
    undoManager?.follow(self) { [weak self] in self?.processPendingChanges() }
  }

  /// Registers how to take back what is about to be announced.
  func noteStep(_ changes: PendingChanges) {
    guard let undoManager else { return }
    if undoManager.isUndoRegistrationEnabled, let step = UndoStep(changes) {
      undoManager.register(self) { [weak self] in self?.takeBack(step) }
    }
    undoManager.endEvent()
  }

  private func takeBack(_ step: UndoStep) {
    home.check()
    for object in step.removed.reversed() { revive(object) }
    for change in step.changes.reversed() where change.object.state != .detached { takeBack(change) }
    for object in step.inserted.reversed() { delete(object) }
    for change in step.changes where change.object.state != .detached { takeOrderBack(change) }
    settleUnchanged(step.changes.map(\.object) + step.removed)
    guard model.hasOwnClasses else { return }
    func tell(_ objects: [ManagedObject], _ event: SnapshotEventType) {
      for object in objects where object.state != .detached && object.entity.hasOwnClass { awake(object, from: event) }
    }
    tell(step.removed, .undoDeletion)
    tell(step.changes.filter { !$0.values.isEmpty }.map(\.object), .undoUpdate)
    tell(step.inserted, .undoInsertion)
  }

  /// Brings back an object that was deleted, whether or not the deletion has been saved.
  private func revive(_ object: ManagedObject) {
    switch object.state {
    case .clean, .updated, .inserted: return
    case .deleted:
      deletions.removeAll { $0 === object }
      newDeletions.removeAll { $0 === object }
      object.state = .updated
      if !updates.contains(where: { $0 === object }) { updates.append(object) }
    case .detached:
      object.state = .inserted
      object.committed = []
      object.isUnfilled = false
      registry.add(object)
      if !hasVoidInsertions || !insertions.contains(where: { $0 === object }) { insertions.append(object) }
      if !object.entity.relationships.isEmpty { hasRelatedInsertions = true }
      // Of objects that are gone the others know nothing any more: what this one points to is pointed to anew.
      for relationship in object.entity.relationships where !relationship.isToMany {
        guard case .object(let id) = object.slots[relationship.slot] else { continue }
        object.slots[relationship.slot] = .null
        object.isChangePending = true
        object.point(relationship, to: permanentIDs[id] ?? id)
      }
    }
    object.isChangePending = true
    pending.noteInserted(object)
  }

  private func takeBack(_ change: UndoStep.Change) {
    let object = change.object
    for (slot, former, now) in change.values {
      guard let relationship = object.entity.properties[slot] as? RelationshipDescription else {
        object.setValue(former, at: slot)
        continue
      }
      guard relationship.isToMany else {
        if case .object(let id) = former {
          object.point(relationship, to: permanentIDs[id] ?? id)
        } else {
          object.point(relationship, to: nil)
        }
        continue
      }
      guard relationship.isManyToMany, let before = former.objectIDs, let after = now.objectIDs else { continue }
      for id in after.subtracting(before) { object.unlink(relationship, self.object(with: id)) }
      for id in before.subtracting(after) { object.link(relationship, self.object(with: id)) }
    }
  }

  /// Puts ordered relationships back into their order, now that it is known again who is in them.
  private func takeOrderBack(_ change: UndoStep.Change) {
    let object = change.object
    for (slot, former, _) in change.values {
      guard let relationship = object.entity.properties[slot] as? RelationshipDescription, relationship.isOrdered,
        case .orderedObjects(let order) = former.mappingIDs({ permanentIDs[$0] ?? $0 })
      else { continue }
      object.arrange(relationship, as: order)
    }
  }

  /// What is as it was read again has no change to save.
  private func settleUnchanged(_ objects: [ManagedObject]) {
    var hasSettled = false
    for object in objects where object.state == .updated && !object.hasPersistentChanges {
      object.state = .clean
      object.committed = []
      hasSettled = true
    }
    if hasSettled { updates.removeAll { $0.state == .clean } }
  }
}
