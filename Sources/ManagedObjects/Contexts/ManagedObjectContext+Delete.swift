extension ManagedObjectContext {
  /// Marks an object for deletion by the next save.
  ///
  /// The model's delete rules are applied at the end of the `perform`, on ``processPendingChanges()`` and on a save; a
  /// rule that denies the deletion makes the save fail. An object that was never saved is forgotten at once, with what
  /// hangs on it by a cascade.
  /// Source: `delete(_:)` of Core Data.
  public func delete(_ object: ManagedObject) {
    home.check()
    precondition(object.home === home, "an object of another context: \(object.id)")
    if object.entity.hasOwnClass, !prepareForDeletion(object) { return }
    if undoManager != nil, object.state != .deleted, object.state != .detached {
      if object.isUnfilled { fulfill(object) }
      if !object.isChangePending { noteChanged(object) }
      pending.noteRemoved(object)
    }
    switch object.state {
    case .deleted, .detached: return
    case .inserted:
      deleteUnsaved(object)
    case .updated, .clean:
      if object.committed.isEmpty, !object.isUnfilled { object.committed = object.slots }
      object.state = .deleted
      deletions.append(object)
      newDeletions.append(object)
    }
    pending.noteDeleted(object)
  }

  private func deleteUnsaved(_ object: ManagedObject) {
    let dependents = object.entity.relationships.filter { $0.deleteRule == .cascade }.flatMap {
      related(to: object, by: $0)
    }
    detachInverses(of: object)
    hasVoidInsertions = true
    object.state = .detached
    registry.remove(object)
    for dependent in dependents { delete(dependent) }
  }

  /// The objects that a relationship holds.
  func related(to object: ManagedObject, by relationship: RelationshipDescription) -> [ManagedObject] {
    if relationship.isToMany { return object.resolvedIDs(relationship).map { self.object(with: $0) } }
    guard case .object(let id) = object.value(at: relationship.slot) else { return [] }
    return [self.object(with: id)]
  }
}
