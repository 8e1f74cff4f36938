package import ManagedObjects

extension StoreChanges {
  /// The references of a write that lead nowhere. It is called once the database's foreign keys say that there are some.
  /// - Parameters:
  ///   - ids: the permanent IDs of the inserted rows, in order.
  ///   - savedRows: the rows without objects that were written.
  ///   - holds: whether the store has an entity's rows. References to those of other stores aren't its own to check.
  ///   - isMissing: whether a row that is referred to doesn't exist.
  ///   - referrers: the rows that refer to a row by a relationship.
  package func brokenReferences(
    _ ids: [ManagedObjectID], _ savedRows: [SavedRows], holds: (EntityDescription) -> Bool,
    isMissing: (ManagedObjectID) throws -> Bool,
    referrers: (ManagedObjectID, RelationshipDescription) throws -> [ManagedObjectID]
  ) throws -> [BrokenReference] {
    var found: [BrokenReference] = []
    func find(
      _ values: ContiguousArray<Value>, former: ContiguousArray<Value>? = nil, of id: ManagedObjectID,
      as given: ManagedObjectID
    ) throws {
      for relationship in id.entity.relationships
      where !relationship.isTransient && former?[relationship.slot] != values[relationship.slot] {
        let targets: [ManagedObjectID]
        switch values[relationship.slot] {
        case .object(let target): targets = [target]
        case let set where relationship.isManyToMany: targets = Array(set.objectIDs ?? [])
        default: continue
        }
        guard holds(relationship.destinationEntity) else { continue }
        for target in targets where try isMissing(target) {
          found.append(.init(objectID: given, relationship: relationship.name, missingObjectID: target))
        }
      }
    }
    for (row, id) in zip(inserted, ids) { try find(row.values, of: id, as: row.id) }
    for saved in savedRows {
      for row in saved.numbers.indices {
        let new = saved.rows.row(row)
        try find(new.values, of: saved.id(row), as: new.id)
      }
    }
    for update in updated { try find(update.values, former: update.committed, of: update.id, as: update.id) }
    // Rows that refer to a deleted one and that aren't cleared: had the context known them, the delete rule would have deleted
    // them too or denied the deletion.
    for row in deleted {
      for relationship in row.id.entity.references where !relationship.isToMany && holds(relationship.entity) {
        for other in try referrers(row.id, relationship) {
          found.append(
            .init(
              objectID: other, relationship: relationship.name, missingObjectID: row.id, isDeletedBySave: true))
        }
      }
    }
    return found
  }
}
