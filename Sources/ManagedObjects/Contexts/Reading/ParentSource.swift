/// A parent context as the source of a child: rows as they are in the parent, with its unsaved changes, and saves that go one
/// level up.
///
/// A child's save into its parent is checked like a save into a store: the parent's object must have the values that the
/// child read. The child's policy settles conflicts there; the parent's own policy does when the parent saves.
struct ParentSource: ObjectSource {
  let queue: ContextQueue
  /// What the child has yet to merge.
  let mailbox: SaveMailbox
  /// The parent itself. Touched within `readForChild` and `run` only, which is on the parent's queue.
  private var parent: ManagedObjectContext { queue.uncheckedContext }

  init(parent: ContextQueue, mailbox: SaveMailbox) {
    queue = parent
    self.mailbox = mailbox
  }

  func rows(_ fetch: StoreFetch) throws -> [StoreRow] {
    try queue.readForChild { parent in try parent.rows(fetch).map(detached) }
  }

  func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] {
    try queue.readForChild { parent in try parent.ids(fetch) }
  }

  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] {
    try queue.readForChild { parent in try parent.source.dictionaries(query) }
  }

  func count(_ fetch: StoreFetch) throws -> Int { try queue.readForChild { parent in try parent.count(fetch) } }

  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] {
    try queue.readForChild { parent in
      if ids.count > 1 { try parent.fill(ids) }
      return try ids.compactMap { id in
        do {
          let object = try parent.existingObject(with: id)
          return object.state == .deleted ? nil : detached(object.row)
        } catch ManagedObjectError.objectNotFound {
          return nil
        }
      }
    }
  }

  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Value {
    try queue.readForChild { parent in
      let ids = parent.object(with: id).resolved(relationship)
      try parent.throwDeferredError()
      return ids
    }
  }

  func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) throws -> [RelatedRow] {
    try queue.readForChild { parent in
      let owners = ids.map(parent.object(with:))
      let related = try parent.prefetch(relationship, of: owners)
      let rows = Dictionary(related.filter { $0.state != .deleted }.map { ($0.id, detached($0.row)) }) { $1 }
      try parent.throwDeferredError()
      return zip(ids, owners).flatMap { id, owner in
        owner.resolved(relationship).relatedIDs.compactMap { rows[$0].map { RelatedRow(owner: id, row: $0) } }
      }
    }
  }

  func permanentIDs(for entities: [EntityDescription], in stores: [Int: PersistentStore]) throws -> [ManagedObjectID] {
    try queue.run { parent in try parent.source.permanentIDs(for: entities, in: stores) }
  }

  func write(_ changes: StoreChanges) throws -> StoreWriteResult {
    try queue.run { parent in
      try parent.throwDeferredError()
      let conflicts = conflicts(with: changes)
      try parent.throwDeferredError()
      guard conflicts.isEmpty else { throw ManagedObjectError.mergeConflicts(conflicts) }
      if changes.updated.isEmpty, changes.deleted.isEmpty, changes.assignments.isEmpty, parent.adopt(changes.inserted) {
        return result()
      }
      parent.changeSet.assign(changes.assignments)
      // First the new objects, then the references to them.
      reserve(forInsertions: changes.inserted.count)
      // Only objects with relationships are visited again.
      var inserted: ContiguousArray<(ManagedObject, StoreRow)> = []
      for row in changes.inserted {
        let object = absorbInsertion(row)
        if !row.id.scope.entity.relationships.isEmpty { inserted.append((object, row)) }
      }
      for (object, row) in inserted { absorbRelationships(row.values, into: object) }
      for update in changes.updated { absorbUpdate(update) }
      // The members of ordered sets are known now: the order comes last.
      for (object, row) in inserted { absorbOrders(row.values, into: object) }
      for update in changes.updated {
        absorbOrders(update.values, from: update.committed, into: parent.object(with: update.id))
      }
      for row in changes.deleted { parent.delete(parent.object(with: row.id)) }
      try parent.throwDeferredError()
      return result()
    }
  }

  /// The result of a save whose new rows keep their IDs.
  private func result() -> StoreWriteResult {
    var result = StoreWriteResult(ids: [])
    result.number = parent.followers.lastNumber
    // The parent delivers on this queue: what waits now precedes the child's save, and whatever comes later follows it.
    mailbox.noteOwnSave()
    return result
  }

  /// A child reads its sets itself, because the parent's other children may have changed them since.
  private func detached(_ row: StoreRow) -> StoreRow {
    var row = row
    for relationship in row.id.entity.relationships where relationship.isToMany {
      row.values[relationship.slot] = .unresolved
    }
    return row
  }

  // MARK: Absorbing a save

  /// Takes in an object that the child inserted, with its attributes.
  private func absorbInsertion(_ row: StoreRow) -> ManagedObject {
    if !row.id.isTemporaryID || !parent.changeSet.unsavedDeletions.isEmpty,
      let object = parent.registry.object(with: row.id), object.state == .deleted
    {
      return absorbReinsertion(row, object)
    }
    let entity = row.id.scope.entity
    if entity.relationships.isEmpty {
      let object = parent.adopt(row)
      object.isKnownToChildren = true
      return object
    }
    var values = entity.initialValues
    for attribute in entity.attributes { values[attribute.slot] = row.values[attribute.slot] }
    let object = parent.adopt(StoreRow(id: row.id, values: values))
    object.isKnownToChildren = true
    return object
  }

  /// Makes room for new objects.
  private func reserve(forInsertions count: Int) {
    // Reserving is exact, so with many small saves each would copy the list.
    if count > parent.changeSet.insertions.count { parent.changeSet.reserve(forInsertions: count) }
    parent.registry.reserve(count)
  }

  /// Takes in the changes that the child made to an object.
  private func absorbUpdate(_ update: StoreChanges.Update) {
    let object = parent.object(with: update.id)
    for attribute in object.entity.attributes where update.committed[attribute.slot] != update.values[attribute.slot] {
      object.setValue(update.values[attribute.slot], at: attribute.slot)
    }
    absorbRelationships(update.values, from: update.committed, into: object)
  }

  /// Takes in the relationships that the child set or changed. In a one-to-many pair the to-one end decides. Of a set only
  /// the difference counts, because the parent may have changed it too.
  private func absorbRelationships(
    _ values: ContiguousArray<Value>, from former: ContiguousArray<Value>? = nil, into object: ManagedObject
  ) {
    for relationship in object.entity.relationships where former?[relationship.slot] != values[relationship.slot] {
      switch values[relationship.slot] {
      case .object(let id): object.point(relationship, to: parent.registry.currentID(id))
      case .null where !relationship.isToMany: object.point(relationship, to: nil)
      case .objects, .orderedObjects:
        guard relationship.isManyToMany, let ids = values[relationship.slot].objectIDs else { continue }
        let old = former?[relationship.slot].objectIDs ?? []
        for id in old.subtracting(ids) { object.unlink(relationship, parent.object(with: id)) }
        for id in ids.subtracting(old) { object.link(relationship, parent.object(with: id)) }
      default: break
      }
    }
  }

  /// Takes in the order that the child gave to ordered relationships.
  private func absorbOrders(
    _ values: ContiguousArray<Value>, from former: ContiguousArray<Value>? = nil, into object: ManagedObject
  ) {
    for relationship in object.entity.relationships where relationship.isOrdered {
      let slot = relationship.slot
      guard values[slot].isSet, former?[slot] != values[slot] else { continue }
      let theirs = values[slot].mappingIDs { parent.registry.currentID($0) }
      let base = (former?[slot] ?? .unresolved).mappingIDs { parent.registry.currentID($0) }
      let merged = object.resolved(relationship).merging(from: base.isSet ? base : relationship.emptyValue, to: theirs)
      if case .orderedObjects(let order) = merged { object.arrange(relationship, as: order) }
    }
  }

  // MARK: Conflicts

  /// The objects that have changed in the parent since the child read them. Deleting an object that is deleted in the parent
  /// is no conflict.
  private func conflicts(with changes: StoreChanges) -> [MergeConflict] {
    var conflicts: [MergeConflict] = []
    // The parent merges the sets of its children.
    for update in changes.updated where update.isWritten {
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

  /// An object's values in the parent; nil when it is deleted.
  private func valuesForChild(_ id: ManagedObjectID) -> ContiguousArray<Value>? {
    let object = parent.object(with: id)
    if object.isUnfilled { parent.fulfill(object) }
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
      // The child may not have received the object's permanent ID yet.
      if case .object(let former) = read[property.slot], case .object(let id) = values[property.slot],
        parent.registry.permanentID(for: former) == id
      {
        continue
      }
      return false
    }
    return true
  }

  /// Takes in an object that the child inserts again after it was deleted in the parent.
  private func absorbReinsertion(_ row: StoreRow, _ object: ManagedObject) -> ManagedObject {
    object.isKnownToChildren = true
    if object.deletion == .ofRow {
      object.state = .updated
    } else {
      object.committed = []
      object.state = .inserted
    }
    parent.changeSet.undelete([object])
    object.deletion = .ofRow
    parent.noteChanged(object)
    for attribute in object.entity.attributes { object.slots[attribute.slot] = row.values[attribute.slot] }
    return object
  }
}
