extension ManagedObjectContext {
  /// Writes every change to the parent context or to the store, in one transaction; to several stores in one for each.
  ///
  /// In this order: a will-save notification, the delete rules, each object's ``ManagedObject/willSave()``, validation, the
  /// write, each object's ``ManagedObject/didSave()``, a did-save notification. Conflicts are settled by ``mergePolicy``;
  /// what that made of the changes goes the same way again, from the delete rules on. After an error the changes are all
  /// still there, but for those that another of several stores has written by then: they are saved, and told of by a
  /// notification of their own. Saving to a store blocks until the transaction is committed, so a context of the main
  /// queue should save into a parent with a queue of its own.
  ///
  /// Source: `save()` of Core Data.
  /// - Throws: ``ManagedObjectError/validation(_:)``, ``ManagedObjectError/unsettledChanges(attempts:objectIDs:)``,
  ///   ``ManagedObjectError/constraintConflicts(_:)``, ``ManagedObjectError/mergeConflicts(_:)``,
  ///   ``ManagedObjectError/brokenReferences(_:)``, ``PersistentStoreError``, or the store's error.
  public func save() throws { try save(validating: true) }

  /// Saves objects that the caller has checked against the model already, as an import does record by record.
  package func saveValidated() throws { try save(validating: false) }

  private func save(validating: Bool) throws {
    home.check()
    mergeWaitingSaves()
    takePromotedIDs()
    let wasAtWork = isAtWork
    isAtWork = true
    defer { isAtWork = wasAtWork }
    try saveChanges(validating: validating)
    // What was only on its way up is let go of, now that nothing else holds it. A context without children is reset after
    // an import's save, and needn't look through its objects first.
    if parent == nil, !children.isEmpty { letGo(registry.trim()) }
  }

  private func saveChanges(validating: Bool) throws {
    try throwDeferredError()
    guard hasChanges else {
      processPendingChanges()
      return
    }
    postWillSave()
    var save = try gather(validating: validating)
    let result = try write(&save, validating: validating)

    finish(&save, result)
  }

  /// What is written is no change any more, and whoever wants to know is told.
  ///
  /// The rows are changed in place: a copy of an import's would cost as much as making them.
  func finish(_ save: inout Gathered, _ result: StoreWriteResult) {
    // The save's rows are theirs alone now, and can be changed without a copy.
    newRows = []
    save.changes.newRows = []
    takeIDs(result.ids, of: save.inserted, save.updated, &save.changes)
    if save.isWhole { settle() } else { settle(save) }
    advanceGeneration()
    if model.hasOwnClasses { tellSaved(save.inserted, save.updated, save.deleted) }
    for object in save.deleted { object.state = .detached }
    if parent == nil { forgetVanished(Set(save.changes.deleted.map(\.id))) }
    let refreshed = take(result.refreshed, into: &save.changes)
    var told = ContextSave(context: self, save.changes, refreshed, result.savedRows)
    told.number = result.number
    forgetRows(of: told)
    if result.isInTransaction {
      keep(told)
    } else {
      postDidSave(told, inserted: save.inserted, updated: save.updated, deleted: save.deleted)
    }
    if !refreshed.isEmpty { observers.willProcess(ContextSave(context: self, StoreChanges(), refreshed)) }
    processPendingChanges()
    if !result.isInTransaction { tellFollowers(told) }
  }

  /// What one save writes, with the objects that it comes from.
  struct Gathered {
    let inserted: ContiguousArray<ManagedObject>
    let updated: ContiguousArray<ManagedObject>
    let deleted: ContiguousArray<ManagedObject>
    var changes: StoreChanges
    /// Whether it is all that is changed, and not the part that one of several stores has written.
    var isWhole = true
  }

  /// Applies the delete rules, checks what is changed against the model, and collects it.
  func gather(validating: Bool) throws -> Gathered {
    propagateDeletes()
    if model.hasOwnClasses { try askBeforeSave() }
    try throwDeferredError()
    processPendingChanges()
    forgetDeletedInChanges()

    if hasVoidInsertions {
      insertions.removeAll { $0.state != .inserted }
      hasVoidInsertions = false
    }
    let inserted = insertions
    let updated = ContiguousArray(updates.lazy.filter { $0.state == .updated && $0.hasPersistentChanges })
    let deleted = deletions
    try validate(validating ? inserted : [], validating ? updated : [], deleted)
    try throwDeferredError()

    if door != nil { try giveInsertionsPermanentIDs() }
    var changes = StoreChanges(contextName: name, transactionAuthor: transactionAuthor)
    changes.inserted.reserveCapacity(inserted.count)
    for object in inserted { changes.inserted.append(StoreRow(id: object.id, values: object.slots)) }
    changes.newRows = newRows
    for object in updated {
      changes.updated.append(.init(id: object.id, values: object.slots, committed: object.committed))
    }
    for object in deleted { changes.deleted.append(StoreRow(id: object.id, values: object.committed)) }
    if !assignments.isEmpty { changes.assignments = assignments }
    return Gathered(inserted: inserted, updated: updated, deleted: deleted, changes: changes)
  }

  /// Gives the saved objects their permanent IDs, here and in what is told of the save.
  private func takeIDs(
    _ ids: [ManagedObjectID], of inserted: ContiguousArray<ManagedObject>, _ updated: ContiguousArray<ManagedObject>,
    _ changes: inout StoreChanges
  ) {
    let mayHoldTemporaryIDs = hasRelatedInsertions || updates.contains { !$0.entity.relationships.isEmpty }
    let hasChildren = !children.isEmpty
    var renamed = PermanentIDs()
    for (index, id) in ids.enumerated() {
      let object = inserted[index]
      if object.id == id { continue }
      if object.isKnownToChildren || hasChildren || undoManager != nil { permanentIDs[object.id] = id }
      if hasChildren || mayHoldTemporaryIDs { renamed[object.id] = id }
      registry.rename(object, to: id)
      changes.inserted[index].id = id
    }
    if mayHoldTemporaryIDs, !renamed.isEmpty {
      replaceTemporaryIDs(renamed)
      for (index, object) in inserted.enumerated() { changes.inserted[index].values = object.slots }
      for (index, object) in updated.enumerated() { changes.updated[index].values = object.slots }
    }
    if hasChildren { children.promote(renamed) }
  }

  /// Nothing is changed any more.
  private func settle() {
    for object in insertions {
      object.state = .clean
      object.isChangePending = false
    }
    for object in updates where object.state == .updated {
      object.state = .clean
      object.committed = []
    }
    for object in deletions { registry.remove(object) }
    forgetChanges()
  }

  /// The objects of one part aren't changed any more.
  private func settle(_ part: Gathered) {
    for object in part.inserted {
      object.state = .clean
      object.isChangePending = false
    }
    for object in part.updated where object.state == .updated {
      object.state = .clean
      object.committed = []
    }
    for object in part.deleted { registry.remove(object) }
    insertions.removeAll { $0.state != .inserted }
    updates.removeAll { $0.state != .updated }
    let gone = Set(part.deleted.map(ObjectIdentifier.init))
    deletions.removeAll { gone.contains(ObjectIdentifier($0)) }
  }

  /// Puts permanent IDs where changed objects refer to others by temporary ones.
  func replaceTemporaryIDs(_ renamed: PermanentIDs = PermanentIDs()) {
    replaceTemporaryIDs(renamed, in: insertions)
    replaceTemporaryIDs(renamed, in: updates)
  }

  /// Puts permanent IDs where the objects refer to others by temporary ones.
  func replaceTemporaryIDs(
    _ renamed: PermanentIDs, in objects: some Sequence<ManagedObject>
  ) {
    func permanent(_ id: ManagedObjectID) -> ManagedObjectID? {
      id.isTemporaryID ? renamed[id] ?? permanentIDs[id] : nil
    }
    func replace(in values: inout ContiguousArray<Value>, _ relationships: [RelationshipDescription]) {
      for relationship in relationships {
        switch values[relationship.slot] {
        case .object(let id): if let new = permanent(id) { values[relationship.slot] = .object(new) }
        case .objects(let ids) where ids.contains(where: \.isTemporaryID):
          values[relationship.slot] = values[relationship.slot].mappingIDs { permanent($0) ?? $0 }
        case .orderedObjects(let ids) where ids.contains(where: \.isTemporaryID):
          values[relationship.slot] = values[relationship.slot].mappingIDs { permanent($0) ?? $0 }
        default: break
        }
      }
    }
    for object in objects where !object.entity.relationships.isEmpty {
      replace(in: &object.slots, object.entity.relationships)
      if !object.committed.isEmpty { replace(in: &object.committed, object.entity.relationships) }
    }
  }
}
