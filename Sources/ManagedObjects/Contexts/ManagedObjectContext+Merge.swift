public import Foundation

// Merging takes the values that the save wrote, so that it neither reads the store nor blocks: rule 2 lets the main
// queue do it. What this context doesn't know costs a look-up.

extension ManagedObjectContext {
  /// Takes in what another context of the same coordinator saved: refreshes the objects known here, and drops deleted
  /// ones. Changes made here and not saved yet stay.
  ///
  /// To be called on this context's queue. Its own saves, other coordinators', and saves of a child into its parent are
  /// left alone. Source: `mergeChanges(fromContextDidSave:)` of Core Data.
  public func mergeChanges(fromContextDidSave save: ContextSave) {
    home.check()
    guard save.coordinator === persistentStoreCoordinator, save.contextID != ObjectIdentifier(self), save.isToStore else {
      return
    }
    if registry.count > 0 {
      for row in save.inserted { mergeSets(of: row.values, former: nil, id: row.id) }
      for update in save.updated {
        mergeSets(of: update.values, former: update.committed, id: update.id)
        merge(update)
      }
      for row in save.deleted {
        mergeSets(of: nil, former: row.values, id: row.id)
        drop(row.id)
      }
    }
    processPendingChanges()
    postDidMerge(save)
  }

  /// Takes in what a did-save notification tells. See ``mergeChanges(fromContextDidSave:)-(ContextSave)``.
  public func mergeChanges(fromContextDidSave notification: Notification) {
    guard let save = ContextSave(notification) else { return }
    mergeChanges(fromContextDidSave: save)
  }

  private func merge(_ update: StoreChanges.Update) {
    guard let object = registry.object(with: update.id), object.state != .detached, !object.isUnfilled else { return }
    var hasChanged = false
    for property in object.entity.properties {
      let slot = property.slot
      if let relationship = property as? RelationshipDescription, relationship.isToMany {
        // The other side of a one-to-many pair keeps its set by the rows that point to it.
        guard relationship.isManyToMany else { continue }
      }
      let isChangedHere = !object.committed.isEmpty && object.slots[slot] != object.committed[slot]
      if !object.committed.isEmpty { object.committed[slot] = update.values[slot] }
      if isChangedHere || object.slots[slot] == update.values[slot] { continue }
      object.slots[slot] = update.values[slot]
      hasChanged = true
    }
    if hasChanged { pending.noteRefreshed(object) }
  }

  private func drop(_ id: ManagedObjectID) {
    guard let object = registry.object(with: id), object.state != .detached else { return }
    object.state = .detached
    registry.remove(object)
    updates.removeAll { $0 === object }
    deletions.removeAll { $0 === object }
    pending.noteDeleted(object)
  }

  /// Keeps the sets that point back to a row in step, also when the row itself isn't known here.
  private func mergeSets(of values: ContiguousArray<Value>?, former: ContiguousArray<Value>?, id: ManagedObjectID) {
    for relationship in id.entity.relationships where !relationship.isToMany {
      guard let inverse = relationship.inverseRelationship, inverse.isToMany else { continue }
      let new = values?[relationship.slot] ?? .null
      let old = former.flatMap { $0.isEmpty ? nil : $0[relationship.slot] } ?? .null
      if new == old { continue }
      if case .object(let owner) = old { update(inverse, of: owner) { $0.remove(id) } }
      if case .object(let owner) = new { update(inverse, of: owner) { $0.insert(id) } }
    }
  }

  private func update(
    _ set: RelationshipDescription, of owner: ManagedObjectID, _ change: (inout Set<ManagedObjectID>) -> Void
  ) {
    guard let object = registry.object(with: owner), object.state != .detached else { return }
    pending.noteRefreshed(object)
    guard object.hasResolved(set) else { return }
    if case .objects(var ids) = object.slots[set.slot] {
      change(&ids)
      object.slots[set.slot] = .objects(ids)
    }
    if !object.committed.isEmpty, case .objects(var ids) = object.committed[set.slot] {
      change(&ids)
      object.committed[set.slot] = .objects(ids)
    }
  }
}
