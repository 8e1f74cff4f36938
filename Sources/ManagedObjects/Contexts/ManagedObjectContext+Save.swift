extension ManagedObjectContext {
  /// Writes every change to the parent context or, in one transaction, to the store.
  ///
  /// In this order: a will-save notification, the delete rules, validation, the write, a did-save notification. After an
  /// error the changes are all still there. Saving to a store blocks until the transaction is committed, so a context of
  /// the main queue should save into a parent with a queue of its own.
  ///
  /// Source: `save()` of Core Data.
  /// - Throws: ``ManagedObjectError/validation(_:)``, ``ManagedObjectError/constraintConflicts(_:)``,
  ///   ``ManagedObjectError/mergeConflicts(_:)``, or the store's error.
  public func save() throws {
    home.check()
    try throwDeferredError()
    guard hasChanges else { return }
    postWillSave()
    try applyDeleteRules()
    try throwDeferredError()
    processPendingChanges()

    insertions.removeAll { $0.state != .inserted }
    let inserted = Array(insertions)
    let updated = updates.filter { $0.state == .updated && $0.hasPersistentChanges }
    let deleted = Array(deletions)
    try validate(inserted, updated)

    var changes = StoreChanges()
    changes.inserted.reserveCapacity(inserted.count)
    for object in inserted { changes.inserted.append(StoreRow(id: object.id, values: object.slots)) }
    for object in updated {
      changes.updated.append(.init(id: object.id, values: object.slots, committed: object.committed))
    }
    for object in deleted { changes.deleted.append(StoreRow(id: object.id, values: object.committed)) }

    let ids = changes.isEmpty ? [] : try source.write(changes)

    var hasNewIDs = false
    for (object, id) in zip(inserted, ids) where object.id != id {
      if object.isKnownToChildren { permanentIDs[object.id] = id }
      registry.rename(object, to: id)
      hasNewIDs = true
    }
    if hasNewIDs { replaceTemporaryIDs(saved: Dictionary(zip(changes.inserted, ids).map { ($0.id, $1) }) { $1 }) }
    let save = ContextSave(
      context: self, inserted: inserted.map { StoreRow(id: $0.id, values: $0.slots) },
      updated: updated.map { .init(id: $0.id, values: $0.slots, committed: $0.committed) },
      deleted: deleted.map { StoreRow(id: $0.id, values: $0.committed) })
    settle(deleted)
    postDidSave(save, inserted: inserted, updated: updated, deleted: deleted)
  }

  /// Nothing is changed any more.
  private func settle(_ deleted: [ManagedObject]) {
    for object in insertions { object.state = .clean }
    for object in updates where object.state == .updated {
      object.state = .clean
      object.committed = []
    }
    for object in deleted {
      registry.remove(object)
      object.state = .detached
    }
    insertions.removeAll(keepingCapacity: true)
    updates.removeAll(keepingCapacity: true)
    deletions.removeAll(keepingCapacity: true)
  }

  /// Puts permanent IDs where changed objects refer to others by temporary ones.
  func replaceTemporaryIDs(saved: @autoclosure () -> [ManagedObjectID: ManagedObjectID] = [:]) {
    var known: [ManagedObjectID: ManagedObjectID]?
    func permanent(_ id: ManagedObjectID) -> ManagedObjectID? {
      guard id.isTemporaryID else { return nil }
      if known == nil { known = saved().merging(permanentIDs) { $1 } }
      return known?[id]
    }
    func replace(in values: inout ContiguousArray<Value>, _ relationships: [RelationshipDescription]) {
      for relationship in relationships {
        switch values[relationship.slot] {
        case .object(let id): if let new = permanent(id) { values[relationship.slot] = .object(new) }
        case .objects(let ids) where ids.contains(where: \.isTemporaryID):
          values[relationship.slot] = .objects(Set(ids.map { permanent($0) ?? $0 }))
        default: break
        }
      }
    }
    for object in insertions where !object.entity.relationships.isEmpty {
      replace(in: &object.slots, object.entity.relationships)
    }
    for object in updates where !object.entity.relationships.isEmpty {
      replace(in: &object.slots, object.entity.relationships)
    }
  }
}
