// A child's save into its parent is checked as a save into a store is: the parent's object must hold what the child read.
// The child's policy settles it there; the parent's own policy, when the parent saves on.

extension ManagedObjectContext {
  /// The objects that aren't here as a child read them. Deleting what is deleted here already is no conflict.
  func conflicts(with changes: StoreChanges) -> [MergeConflict] {
    var conflicts: [MergeConflict] = []
    for update in changes.updated {
      guard let values = valuesForChild(update.id) else {
        conflicts.append(.init(update.id, object: update.values, cached: update.committed, persisted: nil))
        continue
      }
      if !isAsRead(values, update.committed, update.id.entity) {
        conflicts.append(.init(update.id, object: update.values, cached: update.committed, persisted: values))
      }
    }
    for row in changes.deleted {
      guard let values = valuesForChild(row.id), !isAsRead(values, row.values, row.id.entity) else { continue }
      conflicts.append(.init(row.id, object: nil, cached: row.values, persisted: values))
    }
    return conflicts
  }

  /// An object's values here, nil when it is deleted.
  private func valuesForChild(_ id: ManagedObjectID) -> ContiguousArray<Value>? {
    let object = object(with: id)
    if object.isUnfilled { fulfill(object) }
    switch object.state {
    case .deleted, .detached: return nil
    case .clean, .inserted, .updated: return object.slots
    }
  }

  private func isAsRead(
    _ values: ContiguousArray<Value>, _ read: ContiguousArray<Value>, _ entity: EntityDescription
  ) -> Bool {
    for property in entity.properties where values[property.slot] != read[property.slot] {
      if property.isTransient || property.isDerived || property.holdsSet
        || values[property.slot].isStoredAlike(read[property.slot])
      {
        continue
      }
      // The child may not have heard yet that an object has its permanent ID.
      if case .object(let former) = read[property.slot], case .object(let id) = values[property.slot],
        permanentIDs[former] == id
      {
        continue
      }
      return false
    }
    return true
  }

  /// Takes in an object that a child inserts again after it was deleted here.
  func absorbReinsertion(_ row: StoreRow, _ object: ManagedObject) -> ManagedObject {
    deletions.removeAll { $0 === object }
    newDeletions.removeAll { $0 === object }
    object.isKnownToChildren = true
    if object.isMissing {
      object.isMissing = false
      object.committed = []
      object.state = .inserted
      insertions.append(object)
      hasRelatedInsertions = true
    } else {
      object.state = .updated
      updates.append(object)
    }
    noteChanged(object)
    for attribute in object.entity.attributes { object.slots[attribute.slot] = row.values[attribute.slot] }
    return object
  }
}
