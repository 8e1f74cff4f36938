/// One save on its way into a store in memory: first a look at whether the rows are as they were read, then deletions,
/// changes, new rows and pairs, then the uniqueness constraints.
struct MemoryWrite {
  private let changes: StoreChanges
  private let ids: [ManagedObjectID]
  private let permanent: [ManagedObjectID: ManagedObjectID]

  /// - Parameter ids: the permanent IDs of the new rows, in their order.
  init(_ changes: StoreChanges, _ ids: [ManagedObjectID]) {
    self.changes = changes
    self.ids = ids
    permanent = Dictionary(zip(changes.inserted, ids).map { ($0.id, $1) }) { $1 }
  }

  /// - Throws: ``ManagedObjectError/mergeConflicts(_:)`` or ``ManagedObjectError/constraintConflicts(_:)``, each with all.
  func run(on tables: inout MemoryTables) throws {
    try checkRows(in: tables)
    for row in changes.deleted { tables.remove(row.id) }
    for update in changes.updated {
      guard let stored = tables.row(update.id) else { continue }
      var values = settled(update.values, stored.id.entity)
      // What other rows say has been derived since the object was read, maybe.
      for derivation in stored.id.entity.derivations where !derivation.isOwnRow {
        values[derivation.slot] = stored.values[derivation.slot]
      }
      tables.put(StoreRow(id: stored.id, values: values))
    }
    var isTaken: Set<Int> = []
    for (index, id) in ids.enumerated() {
      if tables.row(id) != nil {
        isTaken.insert(index)
      } else {
        tables.put(StoreRow(id: id, values: settled(changes.inserted[index].values, id.entity)))
      }
    }
    let conflicts = MemoryConflicts(changes, ids, isTaken: isTaken).find(in: tables)
    guard conflicts.isEmpty else { throw ManagedObjectError.constraintConflicts(conflicts) }
    writePairs(&tables)
    if tables.hasOrders {
      try OrderWrite(changes, ids) { permanentID($0).number }.write(to: &tables)
    }
    let broken = brokenReferences(in: tables)
    guard broken.isEmpty else { throw ManagedObjectError.brokenReferences(broken) }
  }

  /// The permanent ID of a row that may be new.
  func permanentID(_ id: ManagedObjectID) -> ManagedObjectID { permanent[id] ?? id }

  private func checkRows(in tables: MemoryTables) throws {
    var conflicts: [MergeConflict] = []
    func check(_ id: ManagedObjectID, _ object: ContiguousArray<Value>?, _ read: ContiguousArray<Value>) {
      guard let stored = tables.row(id) else {
        conflicts.append(.init(id, object: object, cached: read, persisted: nil))
        return
      }
      let isAsRead = id.entity.properties.allSatisfy { property in
        if property.isTransient || property.isDerived || property.holdsSet { return true }
        return stored.values[property.slot].isStoredAlike(read[property.slot])
      }
      if !isAsRead { conflicts.append(.init(id, object: object, cached: read, persisted: stored.values)) }
    }
    for update in changes.updated { check(update.id, update.values, update.committed) }
    for row in changes.deleted { check(row.id, nil, row.values) }
    guard conflicts.isEmpty else { throw ManagedObjectError.mergeConflicts(conflicts) }
  }

  /// Values as they are kept: permanent IDs, nothing transient, and no sets.
  private func settled(_ values: ContiguousArray<Value>, _ entity: EntityDescription) -> ContiguousArray<Value> {
    var values = values
    for attribute in entity.attributes where attribute.isTransient { values[attribute.slot] = .null }
    for relationship in entity.relationships {
      if relationship.isTransient {
        values[relationship.slot] = relationship.isToMany ? .unresolved : .null
      } else if relationship.isToMany {
        values[relationship.slot] = .unresolved
      } else if case .object(let id) = values[relationship.slot] {
        values[relationship.slot] = .object(permanent[id] ?? id)
      }
    }
    return values
  }

  /// Relationships that lead to rows that aren't there, and rows that refer to one that this save deletes and that its
  /// delete rules would have reached, had they been known.
  private func brokenReferences(in tables: MemoryTables) -> [BrokenReference] {
    var broken: [BrokenReference] = []
    func check(_ values: ContiguousArray<Value>, former: ContiguousArray<Value>?, _ given: ManagedObjectID) {
      for relationship in given.entity.relationships
      where !relationship.isTransient && former?[relationship.slot] != values[relationship.slot] {
        var targets: Set<ManagedObjectID> = []
        switch values[relationship.slot] {
        case .object(let target): targets = [target]
        case let set where relationship.isManyToMany: targets = set.objectIDs ?? []
        default: continue
        }
        for target in targets where tables.row(permanent[target] ?? target) == nil {
          broken.append(.init(objectID: given, relationship: relationship.name, missingObjectID: target))
        }
      }
    }
    for row in changes.inserted { check(row.values, former: nil, row.id) }
    for update in changes.updated { check(update.values, former: update.committed, update.id) }
    for row in changes.deleted {
      for relationship in row.id.entity.references where !relationship.isToMany {
        for other in tables.referrers(to: row.id, by: relationship) {
          broken.append(
            .init(
              objectID: other, relationship: relationship.name, missingObjectID: row.id, isDeletedBySave: true))
        }
      }
    }
    return broken
  }

  /// Of a set that was changed only the difference is written, for somebody else may have changed it too.
  private func writePairs(_ tables: inout MemoryTables) {
    for (row, id) in zip(changes.inserted, ids) { write(row.values, former: nil, of: id, &tables) }
    for update in changes.updated { write(update.values, former: update.committed, of: update.id, &tables) }
  }

  private func write(
    _ values: ContiguousArray<Value>, former: ContiguousArray<Value>?, of id: ManagedObjectID,
    _ tables: inout MemoryTables
  ) {
    for relationship in id.entity.relationships where relationship.isManyToMany && !relationship.isUnstored {
      guard let now = values[relationship.slot].objectIDs else { continue }
      let old = former?[relationship.slot].objectIDs ?? []
      for other in old.subtracting(now) { tables.unlink(relationship, id, other) }
      for other in now.subtracting(old) { tables.link(relationship, id, permanent[other] ?? other) }
    }
  }
}
