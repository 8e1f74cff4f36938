extension ManagedObjectContext {
  /// How often ``ManagedObject/willSave()`` may change something before a save gives up: Core Data's number.
  private static var willSaveAttempts: Int { 1000 }

  /// Writes every change to the parent context or to the store, in one transaction; to several stores in one for each.
  ///
  /// The owners of one-to-many sets whose members change are changed objects, too: they are asked, validated and announced as
  /// others are, and compared with the store, which writes nothing to them. So are objects of which only transient values
  /// changed, or which have their former values again; those aren't compared.
  ///
  /// In this order: a will-save notification, the delete rules, each object's ``ManagedObject/willSave()``, validation, the
  /// write, each object's ``ManagedObject/didSave()``, a did-save notification. ``mergePolicy`` settles conflicts; the changes
  /// then go the same way again, from the delete rules on. After an error all changes are still there, except for those that
  /// one of several stores has written by then: they are saved, and announced by a notification of their own. Saving to a
  /// store blocks until the transaction is committed, so a context of the main queue should save into a parent with a queue
  /// of its own.
  ///
  /// Source: `save()` of Core Data.
  /// - Throws: ``ManagedObjectError/validation(_:)``, ``ManagedObjectError/unsettledChanges(attempts:objectIDs:)``,
  ///   ``ManagedObjectError/constraintConflicts(_:)``, ``ManagedObjectError/mergeConflicts(_:)``,
  ///   ``ManagedObjectError/brokenReferences(_:)``, ``PersistentStoreError``, or the store's error.
  public func save() throws { try save(validating: true) }

  /// Saves objects that the caller has validated already, as an import does record by record.
  package func saveValidated() throws { try save(validating: false) }

  private func save(validating: Bool) throws {
    confinement.check()
    takePromotedIDs()
    try mergeQueue.suspended {
      try saveChanges(validating: validating)
      // Objects that were only on their way up are freed, now that nothing else holds them. A context without children is
      // reset after an import's save, and needn't examine its objects first.
      if parent == nil, !children.isEmpty { free(bareRegistry.trim()) }
    }
  }

  private func saveChanges(validating: Bool) throws {
    try rowSource.throwDeferredErrorBeforeSave()
    // A save without changes is announced all the same, and an observer may make some.
    if announcesChanges || hasChanges { postWillSave() }
    guard hasChanges else {
      processPendingChanges()
      return postEmptySave()
    }
    if try saveAdoptedRows() { return }
    var save = try prepareSave(validating: validating)
    let result = try write(&save, validating: validating)
    finish(&save, result)
  }

  /// Marks the written objects as saved, and announces the save.
  private func finish(_ save: inout SaveRequest, _ result: StoreWriteResult) {
    // The request alone holds its rows now, so they can be changed without a copy.
    changeSet.removeNewRows()
    save.changes.newRows = []
    takeIDs(result.ids, of: save.inserted, save.updated, &save.changes)
    if parent == nil { noteSave(result.number, save) }
    settle(save)
    rowSource.advanceGeneration()
    if model.hasOwnClasses { callbacks.didSave(save.inserted, save.updated, save.deleted) }
    for object in save.deleted { object.state = .detached }
    if parent == nil { DeleteRules(self).removeReferences(to: Set(save.changes.deleted.map(\.id))) }
    announce(&save.changes, result, inserted: save.inserted, updated: save.updated, deleted: save.deleted)
  }

  /// Announces a save whose objects are marked as saved.
  private func announce(
    _ changes: inout StoreChanges, _ result: StoreWriteResult, inserted: ContiguousArray<ManagedObject>,
    updated: ContiguousArray<ManagedObject>, deleted: ContiguousArray<ManagedObject>
  ) {
    let refreshed = SaveMerger(self).merge(result.refreshed, into: &changes)
    var announced = ContextSave(context: self, changes, refreshed, result.savedRows)
    announced.number = result.number
    announced.historyToken = result.historyToken
    fetchCache.forgetRows(of: announced)
    mergeQueue.noteSaved()
    if result.isInTransaction {
      keep(announced)
    } else {
      postDidSave(announced, inserted: inserted, updated: updated, deleted: deleted)
    }
    if !refreshed.isEmpty { notifier.willProcess(ContextSave(context: self, StoreChanges(), refreshed)) }
    processPendingChanges()
    if !result.isInTransaction { deliver(announced) }
  }

  /// Notes that the written objects, and the sets that have changed, are as the save left them.
  private func noteSave(_ number: Int64, _ save: SaveRequest) {
    for object in save.inserted { object.latestSave = number }
    for (object, update) in zip(save.updated, save.changes.updated) where update.latestSave != nil {
      object.latestSave = number
    }
  }

  /// Marks the written objects as saved.
  private func settle(_ save: SaveRequest) {
    if save.isWhole {
      changeSet.settle()
      for object in changeSet.deletions { registry.remove(object) }
      discardChanges()
    } else {
      for object in save.deleted { registry.remove(object) }
      changeSet.settle(save)
    }
  }

  /// Applies the delete rules, validates the changes, and collects them.
  private func prepareSave(validating: Bool) throws -> SaveRequest {
    DeleteRules(self).propagate()
    _ = try changeOwners()
    if model.hasOwnClasses { try callWillSave() }
    try throwDeferredError()
    processPendingChanges()
    DeleteRules(self).removeReferencesFromChanges()
    changeSet.removeVoidInsertions()

    let owners = try changeOwners()
    let inserted = changeSet.insertions
    // Where nothing observes the context, only what is written counts, and what rules and classes may look at.
    let updated = ContiguousArray(
      changeSet.updates.lazy.filter {
        $0.state == .updated && (self.changesOwners(of: $0.entity) || $0.hasPersistentChanges)
      })
    let deleted = changeSet.deletions
    let accessible = ContiguousArray(deleted.lazy.filter { $0.deletion != .ofInaccessibleFault })
    // What the caller has validated doesn't include the sets of other objects.
    func checked(_ objects: ContiguousArray<ManagedObject>) -> ContiguousArray<ManagedObject> {
      validating ? objects : owners.sets.isEmpty ? [] : objects.filter { owners.sets[$0.id] != nil }
    }
    try SaveValidation(self, owners).validate(checked(inserted), checked(updated), accessible)
    try throwDeferredError()

    if readGate != nil { try giveInsertionsPermanentIDs() }
    var changes = StoreChanges(contextName: name, transactionAuthor: transactionAuthor)
    changes.fence = fence
    changes.inserted.reserveCapacity(inserted.count)
    for object in inserted { changes.inserted.append(StoreRow(id: object.id, values: object.slots)) }
    changes.newRows = changeSet.newRows
    for object in updated {
      // An import's context isn't compared with others for its owners: it reads them only to ask them.
      let changesSets = announcesChanges && owners.sets[object.id] != nil
      changes.updated.append(
        .init(
          id: object.id, values: object.slots, committed: object.committed,
          latestSave: changesSets ? object.latestSave : nil, isWritten: object.hasPersistentChanges))
    }
    for object in accessible { changes.deleted.append(StoreRow(id: object.id, values: object.committed)) }
    if !changeSet.assignments.isEmpty { changes.assignments = changeSet.assignments }
    return SaveRequest(inserted: inserted, updated: updated, deleted: deleted, changes: changes)
  }

  /// Gives the saved objects their permanent IDs, here and in the announcement of the save.
  private func takeIDs(
    _ ids: [ManagedObjectID], of inserted: ContiguousArray<ManagedObject>, _ updated: ContiguousArray<ManagedObject>,
    _ changes: inout StoreChanges
  ) {
    let mayHoldTemporaryIDs =
      changeSet.hasRelatedInsertions || changeSet.updates.contains { !$0.entity.relationships.isEmpty }
    let hasChildren = !children.isEmpty
    var renamed = PermanentIDs()
    for (index, id) in ids.enumerated() {
      let object = inserted[index]
      if object.id == id { continue }
      if object.isKnownToChildren || hasChildren || undoManager != nil { registry.note(id, for: object.id) }
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

  /// Replaces temporary IDs in the relationships of changed objects.
  func replaceTemporaryIDs(_ renamed: PermanentIDs = PermanentIDs()) {
    replaceTemporaryIDs(renamed, in: changeSet.insertions)
    replaceTemporaryIDs(renamed, in: changeSet.updates)
  }

  /// Replaces temporary IDs in the relationships of the objects.
  func replaceTemporaryIDs(
    _ renamed: PermanentIDs, in objects: some Sequence<ManagedObject>
  ) {
    func permanent(_ id: ManagedObjectID) -> ManagedObjectID? {
      id.isTemporaryID ? renamed[id] ?? registry.permanentID(for: id) : nil
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

  // MARK: Writing

  /// The number of writes that a save tries. Each may meet the changes of another writer, or the next constraint of a row.
  private static var writeAttempts: Int { 8 }
  /// The number of writes that a save tries when others keep changing the sets that it changes. Many contexts may add members to
  /// one owner, and each that succeeds makes the others try again.
  private static var setAttempts: Int { 1000 }

  /// Writes changes, and lets the merge policy settle conflicts.
  ///
  /// After a conflict the policy changes the objects and the save starts over from the delete rules: settling one may delete
  /// objects, and the merge of two valid rows has to be validated, too.
  private func write(_ save: inout SaveRequest, validating: Bool) throws -> StoreWriteResult {
    var attempt = 1
    while !save.changes.isEmpty {
      do {
        let before = sourceVersion
        let result = try writing { try source.write(save.changes) }
        if parent == nil { bareRegistry.noteOwnSave(before, after: sourceVersion) }
        return result
      } catch let error as PartialWriteError {
        var part = save.part(error.changes)
        finish(&part, error.result)
        try settle(error.underlying, attempt)
      } catch {
        try settle(error, attempt)
      }
      attempt += 1
      save = try prepareSave(validating: validating)
    }
    return StoreWriteResult(ids: [])
  }

  /// Lets the merge policy settle conflicts.
  /// - Throws: any other error, and conflicts when there were too many.
  private func settle(_ error: any Error, _ attempt: Int) throws {
    if let fence, case ManagedObjectError.mergeConflicts(let conflicts) = error,
      conflicts.contains(where: { $0.objectID == fence.id })
    {
      // No policy has a say in that.
      throw SupersededSave(fence: fence.id)
    }
    guard attempt < (error.isOfSets ? Self.setAttempts : Self.writeAttempts) else { throw error }
    switch error {
    case ManagedObjectError.mergeConflicts(let conflicts):
      try mergePolicy.resolve(optimisticLockingConflicts: conflicts, in: self)
    case ManagedObjectError.constraintConflicts(let conflicts):
      try mergePolicy.resolve(constraintConflicts: conflicts, in: self)
    default: throw error
    }
  }

  /// Calls ``ManagedObject/willSave()`` of every new, changed and deleted object, and again of those that changed, until nothing
  /// changes any more.
  private func callWillSave() throws {
    var asked: ContiguousArray<AskedObject> = []
    var seen = (inserted: 0, updated: 0, deleted: 0)
    for _ in 0..<Self.willSaveAttempts {
      var next = ContiguousArray(asked.lazy.filter { $0.hasChanged(in: self.changeSet) }.map(\.object))
      let again = Set(next.map(ObjectIdentifier.init))
      func take(_ list: ContiguousArray<ManagedObject>, _ state: ManagedObject.State, after count: inout Int) {
        // A refresh removes objects from the list: those that remain are asked again then.
        for object in list[(list.count < count ? 0 : count)...] where object.entity.hasOwnClass && object.state == state
        {
          if again.isEmpty || !again.contains(ObjectIdentifier(object)) { next.append(object) }
        }
        count = list.count
      }
      take(changeSet.insertions, .inserted, after: &seen.inserted)
      take(changeSet.updates, .updated, after: &seen.updated)
      take(changeSet.deletions, .deleted, after: &seen.deleted)
      if next.isEmpty { return }
      try fillChangedFaults()
      if !asked.isEmpty {
        let next = Set(next.map(ObjectIdentifier.init))
        asked.removeAll { next.contains(ObjectIdentifier($0.object)) }
      }
      // Kept before any object is asked, because one object may change another.
      for object in next { asked.append(AskedObject(object, changeSet.memberChangeCount(of: object))) }
      for object in next where object.hasChanges { object.willSave() }
      DeleteRules(self).propagate()
      try throwDeferredError()
    }
    throw ManagedObjectError.unsettledChanges(
      attempts: Self.willSaveAttempts, objectIDs: asked.filter { $0.hasChanged(in: changeSet) }.map(\.object.id))
  }

  // MARK: Rows on their way up

  /// Saves rows that children have inserted, without making objects of them.
  ///
  /// The children have validated them by the same model, and no class, observer or undo manager has a say. A child may read
  /// while the store writes, which makes objects of them all; they are settled as others are.
  /// - Returns: false when objects have to be saved: there are others, or there is a conflict for the merge policy to settle.
  private func saveAdoptedRows() throws -> Bool {
    guard bareChangeSet.hasOnlyAdoptedRows, adoptsRows, !announcesChanges || !AnnouncedName.didSave.isWanted,
      parent != nil || persistentStoreCoordinator.persistentStores.count == 1
    else { return false }
    try throwDeferredError()
    if readGate != nil { try giveAdoptedRowsPermanentIDs() }
    var changes = StoreChanges(contextName: name, transactionAuthor: transactionAuthor)
    changes.fence = fence
    changes.inserted = bareChangeSet.adoptedRows
    let before = sourceVersion
    let result: StoreWriteResult
    do {
      result = try writing { try source.write(changes) }
    } catch ManagedObjectError.constraintConflicts, ManagedObjectError.mergeConflicts {
      return false
    }
    if parent == nil { bareRegistry.noteOwnSave(before, after: sourceVersion) }
    guard bareChangeSet.hasAdoptedRows else {
      var save = SaveRequest(inserted: changeSet.insertions, updated: [], deleted: [], changes: changes)
      finish(&save, result)
      return true
    }
    _ = bareChangeSet.takeAdoptedRows()
    // With a gate they have them already, and touching the rows would copy them.
    if readGate == nil { notePromotion(takeIDs(result.ids, &changes.inserted)) }
    rowSource.advanceGeneration()
    announce(&changes, result, inserted: [], updated: [], deleted: [])
    return true
  }

  /// Gives rows the permanent IDs that they have been saved with. Returns these by the temporary ones.
  private func takeIDs(_ ids: [ManagedObjectID], _ rows: inout [StoreRow]) -> PermanentIDs {
    var renamed = PermanentIDs()
    for (index, id) in ids.enumerated() where rows[index].id != id {
      renamed[rows[index].id] = id
      rows[index].id = id
    }
    return renamed
  }

  /// Gives rows that children have inserted their permanent IDs before they are written.
  private func giveAdoptedRowsPermanentIDs() throws {
    let entities = bareChangeSet.entitiesOfNewAdoptedRows
    if entities.isEmpty { return }
    let promoted = bareChangeSet.giveNewAdoptedRows(try source.permanentIDs(for: entities, in: [:]))
    notePromotion(promoted)
  }

  private func notePromotion(_ ids: PermanentIDs) {
    if ids.isEmpty { return }
    bareRegistry.note(ids)
    children.promote(ids)
  }

  // MARK: Several writers

  /// Runs the store's write, during which children may read where there is a gate.
  private func writing<T>(_ write: () throws -> T) throws -> T {
    guard let readGate else { return try write() }
    return try readGate.whileOpen(write)
  }
}

extension Error {
  /// Whether another context has changed a set that the save changes, too.
  fileprivate var isOfSets: Bool {
    guard case .mergeConflicts(let conflicts)? = self as? ManagedObjectError else { return false }
    return conflicts.contains { $0.latestSave > 0 }
  }
}

extension ContextQueue {
  /// Runs a child's read from this context.
  func readForChild<T>(_ block: (ManagedObjectContext) throws -> T) rethrows -> T {
    let context = uncheckedContext
    if context.confinement.isCurrent { return try context.run(isForChild: true) { try block(context) } }
    guard let queue = context.dispatchQueue else { return try run(block) }
    return try MainQueue.holding {
      guard let readGate = context.readGate else {
        return try queue.sync { try context.run(isForChild: true) { try block(context) } }
      }
      return try readGate.read(of: queue) { try context.run(isForChild: true) { try block(context) } }
    }
  }
}

/// An object that was asked before a save, with its values before it was asked.
private struct AskedObject {
  let object: ManagedObject
  private let slots: ContiguousArray<Value>
  private let memberChanges: Int

  init(_ object: ManagedObject, _ memberChanges: Int) {
    self.object = object
    self.memberChanges = memberChanges
    slots = object.slots
  }

  /// Whether it is different now. Untouched values share their memory, so the comparison is quick. A set that has only been read
  /// is no difference.
  func hasChanged(in changeSet: ChangeSet) -> Bool {
    guard object.hasChanges else { return false }
    if changeSet.memberChangeCount(of: object) != memberChanges { return true }
    return object.slots != slots && zip(slots, object.slots).contains { $0 != .unresolved && $0 != $1 }
  }
}

/// The changes that one save writes, with the objects they come from.
struct SaveRequest {
  let inserted: ContiguousArray<ManagedObject>
  let updated: ContiguousArray<ManagedObject>
  let deleted: ContiguousArray<ManagedObject>
  // Not private: derived values and permanent IDs are put in after the write, in place, because a copy of an import's rows
  // would cost as much as making them.
  var changes: StoreChanges
  /// Whether these are all the context's changes, and not the part that one of several stores has written.
  var isWhole = true

  /// The part that one of several stores has written, with the rows as that store has them.
  func part(_ written: StoreChanges) -> SaveRequest {
    func objects(
      _ ids: [ManagedObjectID], _ all: ContiguousArray<ManagedObject>, _ rows: [ManagedObjectID]
    ) -> ContiguousArray<ManagedObject> {
      let byID = Dictionary(zip(rows, all)) { first, _ in first }
      return ContiguousArray(ids.compactMap { byID[$0] })
    }
    return SaveRequest(
      inserted: objects(written.inserted.map(\.id), inserted, changes.inserted.map(\.id)),
      updated: objects(written.updated.map(\.id), updated, changes.updated.map(\.id)),
      deleted: objects(written.deleted.map(\.id), deleted, deleted.map(\.id)), changes: written,
      isWhole: false)
  }
}
