// Three versions of a row meet here: as it was read (`committed`), as it is here (`slots`), and as the store has it now.
// Afterwards `committed` is what the store has, so that the next write finds nothing to dispute. To-many relationships
// aren't part of it: of a one-to-many pair the row at the other end decides, and of pairs stores write differences only.

extension ManagedObjectContext {
  /// Settles conflicts with changed and deleted rows.
  func resolve(_ conflicts: [MergeConflict], by type: MergePolicy.MergeType) throws {
    var gone: [StoreRow] = []
    for conflict in conflicts {
      guard let object = registry.object(with: conflict.objectID) else { continue }
      let stored =
        conflict.isDeleted ? nil : try conflict.persisted ?? latestSource.rows(with: [conflict.objectID]).first?.values
      switch (object.state, stored) {
      case (.updated, let stored?):
        merge(object, with: stored, by: type)
        if object.entity.hasOwnClass { awake(object, from: .mergePolicy) }
      case (.updated, nil) where type == .mergeByPropertyObjectTrump || type == .overwrite: insertAgain(object)
      case (.updated, nil):
        takeBack(object)
        gone.append(StoreRow(id: object.id, values: object.committed))
      case (.deleted, let stored?):
        switch type {
        case .mergeByPropertyObjectTrump, .overwrite: object.committed.takeStored(stored, object.entity)
        case .mergeByPropertyStoreTrump, .rollback: takeBackDeletion(of: object, stored)
        case .error: break
        }
      case (.deleted, nil): gone.append(StoreRow(id: object.id, values: object.committed))
      case (.clean, _), (.inserted, _), (.detached, _): break
      }
    }
    drop(gone)
    updates.removeAll { $0.state != .updated }
    deletions.removeAll { $0.state != .deleted }
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
        object.putBack(property)
      }
    case .overwrite:
      // The object's values stand against the store's: they become changes wherever they differ.
      let former = object.committed
      object.committed.takeStored(stored, object.entity)
      for attribute in object.entity.attributes where attribute.isDerived {
        object.slots[attribute.slot] = stored[attribute.slot]
      }
      mergeSets(of: object.id, from: former, to: object.committed)
      return
    case .rollback:
      giveUpChanges(of: object, stored)
      return
    }
    merge(.init(id: object.id, values: stored, committed: object.committed))
  }

  /// Forgets an object's changes, and takes on what the store has. The caller takes it out of ``updates``.
  func giveUpChanges(of object: ManagedObject, _ stored: ContiguousArray<Value>?) {
    takeBack(object)
    let former = object.committed
    for property in object.entity.properties {
      // Sets are read again, for objects at their other end may keep changes of their own.
      object.slots[property.slot] = property.holdsSet ? .unresolved : former[property.slot]
    }
    object.state = .clean
    object.committed = []
    if let stored { merge(.init(id: object.id, values: stored, committed: former)) }
    pending.noteRefreshed(object)
  }

  /// Makes a changed object whose row is gone a new one, under its ID.
  private func insertAgain(_ object: ManagedObject) {
    object.state = .inserted
    object.committed = []
    insertions.append(object)
    if !object.entity.relationships.isEmpty { hasRelatedInsertions = true }
  }

  /// Keeps an object that was to be deleted, and what its delete rules nullified. What they cascaded to is deleted all
  /// the same: nobody knows whether it wasn't deleted for its own sake.
  private func takeBackDeletion(of object: ManagedObject, _ stored: ContiguousArray<Value>) {
    object.state = .updated
    for relationship in object.entity.relationships {
      guard relationship.isToMany, !relationship.isManyToMany, let inverse = relationship.inverseRelationship else {
        continue
      }
      for other in updates where other.state == .updated && other.entity.isKindOf(inverse.entity) {
        guard other.committed[inverse.slot] == .object(object.id), other.slots[inverse.slot].isNull else { continue }
        other.point(inverse, to: object.id)
      }
    }
    giveUpChanges(of: object, stored)
  }
}

extension ManagedObject {
  /// Puts one property back as it was read.
  final func putBack(_ property: PropertyDescription) {
    let former = committed[property.slot]
    guard let relationship = property as? RelationshipDescription else {
      slots[property.slot] = former
      return
    }
    if case .object(let id) = former { point(relationship, to: id) } else { point(relationship, to: nil) }
  }
}

extension ContiguousArray where Element == Value {
  /// Takes on what the store keeps of a row in one place: everything but sets and transient values.
  fileprivate mutating func takeStored(_ stored: ContiguousArray<Value>, _ entity: EntityDescription) {
    for property in entity.properties where !property.holdsSet && !property.isTransient {
      self[property.slot] = stored[property.slot]
    }
  }
}
