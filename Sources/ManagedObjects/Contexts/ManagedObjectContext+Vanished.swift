// Objects that are deleted leave no reference behind. What the delete rules nullify is changed like anything else;
// this file is for the rest: relationships without an inverse, those whose rule is to do nothing, and unsaved changes
// that point to what somebody else deleted. Stores do the same with their rows.

extension ManagedObjectContext {
  /// Takes what this save deletes out of the changes it writes.
  func forgetDeletedInChanges() {
    guard !deletions.isEmpty || hasVoidInsertions else { return }
    var vanished = Set(deletions.map(\.id))
    for object in insertions where object.state == .detached { vanished.insert(object.id) }
    for object in insertions + updates where object.state == .inserted || object.state == .updated {
      object.slots.forget(vanished, object.entity.relationships)
    }
  }

  /// Takes rows that aren't in the store any more out of the objects known here, as the store did with its rows.
  ///
  /// Nothing is read. Objects without changes are looked through only when the model has relationships that the delete
  /// rules don't reach.
  func forgetVanished(_ vanished: Set<ManagedObjectID>) {
    guard !vanished.isEmpty else { return }
    let isReferredTo = Set(vanished.map(\.entity)).contains { !$0.looseReferences.isEmpty }
    let objects = isReferredTo ? registry.objects : Array(insertions + updates)
    for object in objects where object.state != .detached {
      guard !object.isUnfilled else {
        object.forgetPartialValues()
        continue
      }
      var isChanged = object.slots.forget(vanished, object.entity.relationships)
      if !object.committed.isEmpty {
        isChanged = object.committed.forget(vanished, object.entity.relationships) || isChanged
      }
      if isChanged { pending.noteRefreshed(object) }
    }
  }
}

extension ContiguousArray where Element == Value {
  /// Takes IDs out of the slots and sets of relationships. Returns whether there was one.
  @discardableResult
  fileprivate mutating func forget(
    _ ids: Set<ManagedObjectID>, _ relationships: [RelationshipDescription]
  ) -> Bool {
    var isChanged = false
    for relationship in relationships {
      switch self[relationship.slot] {
      case .object(let id) where ids.contains(id):
        self[relationship.slot] = .null
        isChanged = true
      case .objects(let held) where !held.isDisjoint(with: ids):
        self[relationship.slot] = self[relationship.slot].subtracting(ids)
        isChanged = true
      case .orderedObjects(let held) where held.contains(where: ids.contains):
        self[relationship.slot] = self[relationship.slot].subtracting(ids)
        isChanged = true
      default: break
      }
    }
    return isChanged
  }
}
