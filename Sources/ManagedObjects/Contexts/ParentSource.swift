/// A parent context as the source of a child: rows as they are in the parent, unsaved changes included, and saves that
/// go one level up.
struct ParentSource: ObjectSource {
  let parent: ManagedObjectContext

  func rows(_ fetch: StoreFetch) throws -> [StoreRow] {
    try parent.performAndWait { try parent.rows(fetch).map(detached) }
  }

  func count(_ fetch: StoreFetch) throws -> Int { try parent.performAndWait { try parent.rows(fetch).count } }

  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] {
    try parent.performAndWait {
      try ids.compactMap { id in
        guard let object = try? parent.existingObject(with: id), object.state != .deleted else {
          try parent.throwDeferredError()
          return nil
        }
        return detached(StoreRow(id: id, values: object.slots))
      }
    }
  }

  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Set<ManagedObjectID> {
    try parent.performAndWait {
      let ids = parent.object(with: id).resolvedIDs(relationship)
      try parent.throwDeferredError()
      return ids
    }
  }

  func permanentIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID] {
    try parent.performAndWait { try parent.source.permanentIDs(for: entities) }
  }

  func write(_ changes: StoreChanges) throws -> [ManagedObjectID] {
    try parent.performAndWait {
      try parent.throwDeferredError()
      for row in changes.inserted { parent.absorbInsertion(row) }
      for update in changes.updated { parent.absorbUpdate(update) }
      for row in changes.deleted { parent.delete(parent.object(with: row.id)) }
      return changes.inserted.map(\.id)
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
  /// Takes in an object that a child inserted.
  func absorbInsertion(_ row: StoreRow) {
    let object = adopt(StoreRow(id: row.id, values: row.id.entity.initialValues))
    object.isKnownToChildren = true
    absorb(row.values, into: object)
  }

  /// Takes in what a child changed of an object.
  func absorbUpdate(_ update: StoreChanges.Update) {
    let object = object(with: update.id)
    if object.isUnfilled { fulfill(object) }
    absorb(update.values, into: object, unlessIn: update.committed)
  }

  private func absorb(
    _ values: ContiguousArray<Value>, into object: ManagedObject, unlessIn former: ContiguousArray<Value>? = nil
  ) {
    for attribute in object.entity.attributes where former?[attribute.slot] != values[attribute.slot] {
      object.setValue(values[attribute.slot], at: attribute.slot)
    }
    for relationship in object.entity.relationships where former?[relationship.slot] != values[relationship.slot] {
      switch values[relationship.slot] {
      case .object(let id): object.point(relationship, to: permanentIDs[id] ?? id)
      case .null where !relationship.isToMany: object.point(relationship, to: nil)
      case .objects(let ids) where relationship.isManyToMany:
        object.setSet(relationship, to: Set(ids.map { permanentIDs[$0] ?? $0 }))
      default: break
      }
    }
  }
}

extension ManagedObject {
  /// Replaces a set by one that a child saved; the child says the same of the other side.
  final func setSet(_ relationship: RelationshipDescription, to ids: Set<ManagedObjectID>) {
    _ = resolvedIDs(relationship)
    setValue(.objects(ids), at: relationship.slot)
  }
}
