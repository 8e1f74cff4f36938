/// A parent context as the source of a child: rows as they are in the parent, unsaved changes included, and saves that
/// go one level up.
struct ParentSource: ObjectSource {
  let parent: ManagedObjectContext

  func rows(_ fetch: StoreFetch) throws -> [StoreRow] {
    try parent.readForChild { try parent.rows(fetch).map(detached) }
  }

  func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] { try parent.readForChild { try parent.ids(fetch) } }

  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] {
    try parent.readForChild { try parent.source.dictionaries(query) }
  }

  func count(_ fetch: StoreFetch) throws -> Int { try parent.readForChild { try parent.count(fetch) } }

  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] {
    try parent.readForChild {
      if ids.count > 1 { try parent.fill(ids) }
      return try ids.compactMap { id in
        do {
          let object = try parent.existingObject(with: id)
          return object.state == .deleted ? nil : detached(StoreRow(id: object.id, values: object.slots))
        } catch ManagedObjectError.objectNotFound {
          return nil
        }
      }
    }
  }

  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Value {
    try parent.readForChild {
      let ids = parent.object(with: id).resolved(relationship)
      try parent.throwDeferredError()
      return ids
    }
  }

  func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) throws -> [RelatedRow] {
    try parent.readForChild {
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
    try parent.performAndWait { try parent.source.permanentIDs(for: entities, in: stores) }
  }

  func write(_ changes: StoreChanges) throws -> StoreWriteResult {
    try parent.performAndWait {
      try parent.throwDeferredError()
      let conflicts = parent.conflicts(with: changes)
      try parent.throwDeferredError()
      guard conflicts.isEmpty else { throw ManagedObjectError.mergeConflicts(conflicts) }
      parent.assignments.merge(changes.assignments) { $1 }
      // First the new objects, then what leads to them.
      parent.reserve(forInsertions: changes.inserted.count)
      // Only those with relationships are looked at again.
      var inserted: ContiguousArray<(ManagedObject, StoreRow)> = []
      for row in changes.inserted {
        let object = parent.absorbInsertion(row)
        if !row.id.scope.entity.relationships.isEmpty { inserted.append((object, row)) }
      }
      for (object, row) in inserted { parent.absorbRelationships(row.values, into: object) }
      for update in changes.updated { parent.absorbUpdate(update) }
      // Who is in an ordered set is known now: its order comes last.
      for (object, row) in inserted { parent.absorbOrders(row.values, into: object) }
      for update in changes.updated {
        parent.absorbOrders(update.values, from: update.committed, into: parent.object(with: update.id))
      }
      for row in changes.deleted { parent.delete(parent.object(with: row.id)) }
      try parent.throwDeferredError()
      var result = StoreWriteResult(ids: changes.inserted.map(\.id))
      result.number = parent.followers.lastNumber
      return result
    }
  }

  /// A child reads its own sets, lest it hold one that the parent's children have changed since.
  private func detached(_ row: StoreRow) -> StoreRow {
    var row = row
    for relationship in row.id.entity.relationships where relationship.isToMany {
      row.values[relationship.slot] = .unresolved
    }
    return row
  }
}

extension ManagedObjectContext {
  /// Takes in an object that a child inserted, with its attributes.
  func absorbInsertion(_ row: StoreRow) -> ManagedObject {
    if !row.id.isTemporaryID, let object = registry.object(with: row.id), object.state == .deleted {
      return absorbReinsertion(row, object)
    }
    let entity = row.id.scope.entity
    if entity.relationships.isEmpty {
      let object = adopt(row)
      object.isKnownToChildren = true
      return object
    }
    var values = entity.initialValues
    for attribute in entity.attributes { values[attribute.slot] = row.values[attribute.slot] }
    let object = adopt(StoreRow(id: row.id, values: values))
    object.isKnownToChildren = true
    return object
  }

  /// Makes room for so many new objects.
  func reserve(forInsertions count: Int) {
    // Exactly that much is reserved, so that many small saves would copy what is there each time.
    if count > insertions.count { insertions.reserveCapacity(insertions.count + count) }
    registry.reserve(count)
  }

  /// Takes in what a child changed of an object.
  func absorbUpdate(_ update: StoreChanges.Update) {
    let object = object(with: update.id)
    for attribute in object.entity.attributes where update.committed[attribute.slot] != update.values[attribute.slot] {
      object.setValue(update.values[attribute.slot], at: attribute.slot)
    }
    absorbRelationships(update.values, from: update.committed, into: object)
  }

  /// Takes in the relationships that a child set or changed. Of a one-to-many pair the to-one end says it; of a set only
  /// the difference counts, for this context may have changed it too.
  func absorbRelationships(
    _ values: ContiguousArray<Value>, from former: ContiguousArray<Value>? = nil, into object: ManagedObject
  ) {
    for relationship in object.entity.relationships where former?[relationship.slot] != values[relationship.slot] {
      switch values[relationship.slot] {
      case .object(let id): object.point(relationship, to: permanentIDs[id] ?? id)
      case .null where !relationship.isToMany: object.point(relationship, to: nil)
      case .objects, .orderedObjects:
        guard relationship.isManyToMany, let ids = values[relationship.slot].objectIDs else { continue }
        let old = former?[relationship.slot].objectIDs ?? []
        for id in old.subtracting(ids) { object.unlink(relationship, self.object(with: id)) }
        for id in ids.subtracting(old) { object.link(relationship, self.object(with: id)) }
      default: break
      }
    }
  }

  /// Takes in the order that a child gave to what ordered relationships hold.
  func absorbOrders(
    _ values: ContiguousArray<Value>, from former: ContiguousArray<Value>? = nil, into object: ManagedObject
  ) {
    for relationship in object.entity.relationships where relationship.isOrdered {
      let slot = relationship.slot
      guard values[slot].isSet, former?[slot] != values[slot] else { continue }
      let theirs = values[slot].mappingIDs { permanentIDs[$0] ?? $0 }
      let base = (former?[slot] ?? .unresolved).mappingIDs { permanentIDs[$0] ?? $0 }
      let merged = object.resolved(relationship).merging(from: base.isSet ? base : relationship.emptyValue, to: theirs)
      if case .orderedObjects(let order) = merged { object.arrange(relationship, as: order) }
    }
  }
}
