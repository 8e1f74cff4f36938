/// Registers a context's changes with its undo manager, and takes them back.
///
/// To take an event back is to do the opposite: its deleted objects are inserted again, its changes are reverted, its inserted
/// objects are deleted. That is an event like any other, and its opposite redoes it; saves in between make no difference. An
/// object whose deletion was saved is inserted again under its former ID.
final class UndoRecorder {
  // Touched on the context's queue only.

  /// The undo manager; nil, the default, when nothing is recorded.
  private(set) var manager: UndoManager?

  /// Records a context's changes with another manager.
  func follow(_ new: UndoManager?, _ context: ManagedObjectContext) {
    let former = manager
    manager = new
    guard new !== former else { return }
    former?.unfollow(context)
    new?.follow(context) { [weak context] in context?.processPendingChanges() }
  }

  /// Registers how to take back the changes that are about to be announced, and ends the event.
  func record(_ changes: PendingChanges, _ context: ManagedObjectContext) {
    guard let manager else { return }
    if manager.isUndoRegistrationEnabled, let step = UndoStep(changes) {
      manager.register(context) { [weak self, weak context] in
        if let self, let context { undo(step, context) }
      }
    }
    manager.endEvent()
  }

  /// Takes a step back.
  private func undo(_ step: UndoStep, _ context: ManagedObjectContext) {
    context.confinement.check()
    reinsert(step.deleted.reversed(), context)
    for change in step.changes.reversed() where change.object.state != .detached { undo(change, context) }
    for object in step.inserted.reversed() { context.delete(object) }
    // An undo is an event of its own, and its deletions come to their end with it.
    DeleteRules(context).propagate()
    for change in step.changes where change.object.state != .detached { restoreOrder(change, context) }
    settleUnchanged(step.changes.map(\.object) + step.owners + step.deleted, context)
    guard context.model.hasOwnClasses else { return }
    func awake(_ objects: [ManagedObject], _ event: SnapshotEventType) {
      for object in objects where object.state != .detached && object.entity.hasOwnClass {
        context.callbacks.awake(object, from: event)
      }
    }
    awake(step.deleted, .undoDeletion)
    awake(step.changes.filter { !$0.values.isEmpty }.map(\.object), .undoUpdate)
    awake(step.inserted, .undoInsertion)
  }

  /// Brings back deleted objects, whether or not their deletion has been saved.
  func reinsert(_ objects: [ManagedObject], _ context: ManagedObjectContext) {
    let returning = objects.filter { $0.state == .deleted || $0.state == .detached }
    var gone: [ManagedObject] = []
    for object in returning {
      if object.state == .detached {
        object.state = .inserted
        object.committed = []
        object.isUnfilled = false
        context.registry.add(object)
        gone.append(object)
      } else {
        object.state = object.deletion == .ofUnsaved ? .inserted : .updated
      }
      object.isChangePending = true
      context.notifier.noteReinserted(object)
    }
    context.changeSet.undelete(returning)
    // Other objects no longer refer to those that were gone, so their to-one relationships are set again.
    for object in gone {
      for relationship in object.entity.relationships where !relationship.isToMany {
        guard case .object(let id) = object.slots[relationship.slot] else { continue }
        object.slots[relationship.slot] = .null
        object.point(relationship, to: context.registry.currentID(id))
      }
    }
  }

  private func undo(_ change: UndoStep.Change, _ context: ManagedObjectContext) {
    let object = change.object
    for (slot, former, now) in change.values {
      guard let relationship = object.entity.properties[slot] as? RelationshipDescription else {
        object.setValue(former, at: slot)
        continue
      }
      guard relationship.isToMany else {
        if case .object(let id) = former {
          object.point(relationship, to: context.registry.currentID(id))
        } else {
          object.point(relationship, to: nil)
        }
        continue
      }
      guard relationship.isManyToMany, let before = former.objectIDs, let after = now.objectIDs else { continue }
      for id in after.subtracting(before) { object.unlink(relationship, context.object(with: id)) }
      for id in before.subtracting(after) { object.link(relationship, context.object(with: id)) }
    }
  }

  /// Restores the order of ordered relationships, once their members are back.
  private func restoreOrder(_ change: UndoStep.Change, _ context: ManagedObjectContext) {
    let object = change.object
    for (slot, former, _) in change.values {
      guard let relationship = object.entity.properties[slot] as? RelationshipDescription, relationship.isOrdered,
        case .orderedObjects(let order) = former.mappingIDs({ context.registry.currentID($0) })
      else { continue }
      object.arrange(relationship, as: order)
    }
  }

  /// Objects that have their former values again have no change to save.
  private func settleUnchanged(_ objects: [ManagedObject], _ context: ManagedObjectContext) {
    var hasSettled = false
    for object in objects where object.state == .updated && !object.hasPersistentChanges {
      object.state = .clean
      object.committed = []
      hasSettled = true
    }
    if hasSettled { context.changeSet.removeUpdates { $0.state == .clean } }
  }
}

extension ManagedObjectContext {
  /// Takes back the last step of changes: see ``UndoManager``. Does nothing without an ``undoManager``.
  /// Source: `undo()` of Core Data.
  public func undo() {
    confinement.check()
    undoManager?.undo()
  }

  /// Redoes the step that was undone last.
  /// Source: `redo()` of Core Data.
  public func redo() {
    confinement.check()
    undoManager?.redo()
  }
}

/// The changes of one event, by property, so that an undo leaves the later changes of other properties alone.
private struct UndoStep {
  /// An object and its former values in the slots that differ.
  struct Change {
    let object: ManagedObject
    let values: [(slot: Int, former: Value, now: Value)]
  }

  let inserted: [ManagedObject]
  let deleted: [ManagedObject]
  let changes: [Change]
  /// Objects that were changed as faults: the members of their sets have changed.
  let owners: [ManagedObject]

  /// The step of an event; nil when nothing can be taken back.
  init?(_ pending: PendingChanges) {
    let isNew = Set(pending.inserted.map(ObjectIdentifier.init))
    inserted = pending.inserted.filter { !$0.isGone }.map { $0 }
    deleted = pending.undoableDeletions.filter { !isNew.contains(ObjectIdentifier($0)) }.map { $0 }
    changes = pending.formers.compactMap { former in
      guard !former.values.isEmpty, !isNew.contains(ObjectIdentifier(former.object)) else { return nil }
      return Change(object: former.object, values: former.object.difference(to: former.values))
    }
    owners = pending.formers.lazy.filter { $0.values.isEmpty && $0.object.state == .updated }.map(\.object)
    if inserted.isEmpty, deleted.isEmpty, changes.allSatisfy(\.values.isEmpty) { return nil }
  }
}

extension ManagedObject {
  /// The values that differ from former ones. Sets that the other end decides don't count, nor sets that weren't read.
  fileprivate final func difference(
    to former: ContiguousArray<Value>
  ) -> [(slot: Int, former: Value, now: Value)] {
    entity.properties.compactMap { property in
      let (before, now) = (former[property.slot], slots[property.slot])
      if before == now || before == .unresolved || now == .unresolved { return nil }
      if let relationship = property as? RelationshipDescription, relationship.isToMany, !relationship.isManyToMany,
        !relationship.isOrdered
      {
        return nil
      }
      if let attribute = property as? AttributeDescription, attribute.definition.derivationExpression != nil {
        return nil
      }
      return (property.slot, before, now)
    }
  }
}
