/// Settles conflicts with rows that were changed or deleted since a context read them.
///
/// Three versions of a row meet here: as it was read (`committed`), as it is in the context (`slots`), and as the store has it
/// now. Afterwards `committed` is the store's version, so the next write finds no conflict. To-many relationships take no
/// part: in a one-to-many pair the row at the other end decides, and for many-to-many pairs stores write differences only.
struct MergeConflictResolver {
  let context: ManagedObjectContext
  private var registry: ObjectRegistry { context.registry }

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Settles the conflicts by a policy.
  func resolve(_ conflicts: [MergeConflict], by type: MergePolicy.MergeType) throws {
    var gone: [StoreRow] = []
    for conflict in conflicts {
      guard let object = registry.object(with: conflict.objectID) else { continue }
      let stored =
        conflict.isDeleted
        ? nil : try conflict.persisted ?? context.rowSource.latest.rows(with: [conflict.objectID]).first?.values
      switch (object.state, stored) {
      case (.updated, let stored?):
        object.latestSave = max(object.latestSave, conflict.latestSave)
        merge(object, with: stored, by: type)
        if object.entity.hasOwnClass { context.callbacks.awake(object, from: .mergePolicy) }
      case (.updated, nil) where type == .mergeByPropertyObjectTrump || type == .overwrite: insertAgain(object)
      case (.updated, nil):
        context.revertInverses(of: object)
        gone.append(StoreRow(id: object.id, values: object.committed))
      case (.deleted, let stored?):
        switch type {
        case .mergeByPropertyObjectTrump, .overwrite: object.committed.takeStored(stored, object.entity)
        case .mergeByPropertyStoreTrump, .rollback: undelete(object, stored)
        case .error: break
        }
      case (.deleted, nil): gone.append(StoreRow(id: object.id, values: object.committed))
      case (.clean, _), (.inserted, _), (.detached, _): break
      }
    }
    SaveMerger(context).remove(gone)
    context.changeSet.removeUpdates { $0.state != .updated }
    context.changeSet.removeDeletions { $0.state != .deleted }
  }

  private func merge(
    _ object: ManagedObject, with stored: ContiguousArray<Value>, by type: MergePolicy.MergeType
  ) {
    switch type {
    case .error: break
    case .mergeByPropertyObjectTrump: break
    case .mergeByPropertyStoreTrump:
      for property in object.entity.properties where !property.holdsSet && !property.isTransient {
        let slot = property.slot
        let former = object.committed[slot]
        guard !stored[slot].isStoredAlike(former), object.slots[slot] != former else { continue }
        object.revert(property)
      }
    case .overwrite:
      // The object's values become changes wherever they differ from the store's.
      let former = object.committed
      object.committed.takeStored(stored, object.entity)
      for attribute in object.entity.attributes where attribute.isDerived {
        object.slots[attribute.slot] = stored[attribute.slot]
      }
      SaveMerger(context).mergeSets(of: object.id, from: former, to: object.committed)
      return
    case .rollback:
      revert(object, to: stored)
      return
    }
    SaveMerger(context).merge(StoreChanges.Update(id: object.id, values: stored, committed: object.committed))
  }

  /// Discards an object's changes, and takes on the row that the store has. The caller removes it from the change set.
  func revert(_ object: ManagedObject, to stored: ContiguousArray<Value>?) {
    context.revertInverses(of: object)
    let former = object.committed
    for property in object.entity.properties {
      // Sets are read again, because objects at their other end may keep changes of their own.
      object.slots[property.slot] = property.holdsSet ? .unresolved : former[property.slot]
    }
    object.state = .clean
    object.committed = []
    if let stored { SaveMerger(context).merge(StoreChanges.Update(id: object.id, values: stored, committed: former)) }
    context.notifier.noteRefreshed(object)
  }

  /// Turns a changed object whose row is gone into a new one, under its ID.
  private func insertAgain(_ object: ManagedObject) {
    object.state = .inserted
    object.committed = []
    context.changeSet.insert(object)
  }

  /// Takes a deletion back, and what its delete rules nullified. The objects that they cascaded to stay deleted, because the
  /// program may have deleted them itself.
  private func undelete(_ object: ManagedObject, _ stored: ContiguousArray<Value>) {
    object.state = .updated
    for relationship in object.entity.relationships {
      guard relationship.isToMany, !relationship.isManyToMany, let inverse = relationship.inverseRelationship else {
        continue
      }
      for other in context.changeSet.updates where other.state == .updated && other.entity.isKindOf(inverse.entity) {
        guard !other.committed.isEmpty, other.committed[inverse.slot] == .object(object.id),
          other.slots[inverse.slot].isNull
        else { continue }
        other.point(inverse, to: object.id)
      }
    }
    revert(object, to: stored)
  }
}

extension ManagedObject {
  /// Reverts one property to its value as it was read.
  final func revert(_ property: PropertyDescription) {
    let former = committed[property.slot]
    guard let relationship = property as? RelationshipDescription else {
      slots[property.slot] = former
      return
    }
    if case .object(let id) = former { point(relationship, to: id) } else { point(relationship, to: nil) }
  }
}

extension ContiguousArray where Element == Value {
  /// Takes on the stored values of a row: all except sets and transient values.
  fileprivate mutating func takeStored(_ stored: ContiguousArray<Value>, _ entity: EntityDescription) {
    for property in entity.properties where !property.holdsSet && !property.isTransient {
      self[property.slot] = stored[property.slot]
    }
  }
}
