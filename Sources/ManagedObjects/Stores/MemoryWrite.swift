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
      tables.put(StoreRow(id: stored.id, values: settled(update.values, update.id.entity)))
    }
    var conflicts: [ConstraintConflict] = []
    for (row, id) in zip(changes.inserted, ids) {
      if tables.row(id) != nil {
        conflicts.append(.init(objectID: row.id, constraint: id.entity.primaryKey.map { [$0.name] } ?? []))
      } else {
        tables.put(StoreRow(id: id, values: settled(row.values, id.entity)))
      }
    }
    conflicts += clashes(in: tables)
    guard conflicts.isEmpty else { throw ManagedObjectError.constraintConflicts(conflicts) }
    writePairs(&tables)
    if tables.hasOrders {
      try OrderWrite(changes, ids) { [permanent] in (permanent[$0] ?? $0).number }.write(to: &tables)
    }
  }

  private func checkRows(in tables: MemoryTables) throws {
    var conflicts: [MergeConflict] = []
    func check(_ id: ManagedObjectID, _ read: ContiguousArray<Value>) {
      guard let stored = tables.row(id) else {
        conflicts.append(.init(objectID: id, isDeleted: true))
        return
      }
      let isAsRead = id.entity.properties.allSatisfy { property in
        if property.isTransient || (property as? RelationshipDescription)?.isToMany == true { return true }
        return stored.values[property.slot].isStoredAlike(read[property.slot])
      }
      if !isAsRead { conflicts.append(.init(objectID: id, isDeleted: false)) }
    }
    for update in changes.updated { check(update.id, update.committed) }
    for row in changes.deleted { check(row.id, row.values) }
    guard conflicts.isEmpty else { throw ManagedObjectError.mergeConflicts(conflicts) }
  }

  /// Values as they are kept: permanent IDs, nothing transient, and no sets.
  private func settled(_ values: ContiguousArray<Value>, _ entity: EntityDescription) -> ContiguousArray<Value> {
    var values = values
    for attribute in entity.attributes where attribute.isTransient { values[attribute.slot] = .null }
    for relationship in entity.relationships {
      if relationship.isToMany {
        values[relationship.slot] = .unresolved
      } else if case .object(let id) = values[relationship.slot] {
        values[relationship.slot] = .object(permanent[id] ?? id)
      }
    }
    return values
  }

  /// Rows that clash with one that this save doesn't write, or with one that it wrote before them.
  private func clashes(in tables: MemoryTables) -> [ConstraintConflict] {
    let written =
      changes.updated.map { ($0.id, $0.id, $0.values) }
      + zip(changes.inserted, ids).map { ($0.id, $1, $0.values) }
    var later: [Int: Set<Int64>] = [:]
    for (_, id, _) in written { later[id.entity.rootEntity.index, default: []].insert(id.number) }
    var conflicts: [ConstraintConflict] = []
    for (given, id, values) in written {
      later[id.entity.rootEntity.index]?.remove(id.number)
      let rest = later[id.entity.rootEntity.index] ?? []
      for constraint in id.entity.uniquenessConstraints where constraint != id.entity.primaryKey.map({ [$0] }) {
        let owners = tables.owners(of: constraint, values)
        if owners.contains(where: { $0 != id.number && !rest.contains($0) }) {
          conflicts.append(.init(objectID: given, constraint: constraint.map(\.name)))
        }
      }
    }
    return conflicts
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
    for relationship in id.entity.relationships where relationship.isManyToMany {
      guard let now = values[relationship.slot].objectIDs else { continue }
      let old = former?[relationship.slot].objectIDs ?? []
      for other in old.subtracting(now) { tables.unlink(relationship, id, other) }
      for other in now.subtracting(old) { tables.link(relationship, id, permanent[other] ?? other) }
    }
  }
}
