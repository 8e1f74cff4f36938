/// Writes one save into a store in memory: checks that the rows are as they were read, deletes, changes and inserts rows, then
/// checks uniqueness, writes pairs, and checks references.
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
    let stale = changes.mergeConflicts { tables.row($0) }
    guard stale.isEmpty else { throw ManagedObjectError.mergeConflicts(stale) }
    for row in changes.deleted { tables.remove(row.id) }
    for update in changes.updated {
      guard let stored = tables.row(update.id) else { continue }
      var values = settled(update.values, stored.id.entity)
      // Values derived from other rows may have changed since the object was read.
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

  /// Values as they are stored: with permanent IDs, and without transient values and sets.
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

  /// Relationships to rows that don't exist, and rows that refer to one that this save deletes: had the context known them,
  /// delete rules would have reached them.
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

  /// Writes only the difference of a set that was changed, because others may have changed it too.
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

/// Finds the uniqueness conflicts of a write into a store in memory, after its rows have been stored.
///
/// A row conflicts with one that keeps its values, or with one that is written before it: updates in their order, then new rows
/// in theirs.
struct MemoryConflicts {
  private let changes: StoreChanges
  private let ids: [ManagedObjectID]
  private let isTaken: Set<Int>
  /// The place of each row among those written, by its permanent ID.
  private var places: [ManagedObjectID: Int] = [:]

  /// - Parameters:
  ///   - ids: the permanent IDs of the new rows.
  ///   - isTaken: the new rows whose numbers other rows have.
  init(_ changes: StoreChanges, _ ids: [ManagedObjectID], isTaken: Set<Int>) {
    self.changes = changes
    self.ids = ids
    self.isTaken = isTaken
    guard changes.hasUniqueRows else { return }
    for (place, update) in changes.updated.enumerated() { places[update.id] = place }
    for (index, id) in ids.enumerated() where !isTaken.contains(index) { places[id] = changes.updated.count + index }
  }

  func find(in tables: MemoryTables) -> [ConstraintConflict] {
    var conflicts: [ConstraintConflict] = []
    guard changes.hasUniqueRows || !isTaken.isEmpty else { return conflicts }
    for (place, update) in changes.updated.enumerated() {
      look(for: StoreRow(id: update.id, values: update.values), update.id, place, in: tables, &conflicts)
    }
    for (index, row) in changes.inserted.enumerated() {
      if isTaken.contains(index) {
        let known = conflict(row, ids[index].entity.primaryKey.map { [$0] } ?? [], with: ids[index], in: tables)
        conflicts.append(known)
      }
      look(for: row, ids[index], changes.updated.count + index, in: tables, &conflicts)
    }
    return conflicts
  }

  private func look(
    for row: StoreRow, _ id: ManagedObjectID, _ place: Int, in tables: MemoryTables,
    _ conflicts: inout [ConstraintConflict]
  ) {
    for constraint in id.entity.uniquenessConstraints
    where constraint != id.entity.primaryKey.map({ [$0] }) && !keeps(place, constraint) {
      let owners = tables.owners(of: constraint, row.values)
      if owners.isEmpty || (owners.count == 1 && owners.contains(id.number)) { continue }
      var (first, firstPlace): (ManagedObjectID?, Int) = (nil, place)
      for number in owners where number != id.number {
        let owner = ManagedObjectID(scope: id.scope, number: number)
        guard let its = places[owner], !keeps(its, constraint) else {
          // A row that keeps its values comes before all others.
          first = owner
          break
        }
        if its < firstPlace { (first, firstPlace) = (owner, its) }
      }
      if let first { conflicts.append(conflict(row, constraint, with: first, in: tables)) }
    }
  }

  /// Whether the row at a place had the values of a constraint before.
  private func keeps(_ place: Int, _ constraint: [AttributeDescription]) -> Bool {
    guard place < changes.updated.count else { return false }
    let update = changes.updated[place]
    return constraint.allSatisfy { update.values[$0.slot] == update.committed[$0.slot] }
  }

  private func conflict(
    _ row: StoreRow, _ constraint: [AttributeDescription], with id: ManagedObjectID, in tables: MemoryTables
  ) -> ConstraintConflict {
    let names = constraint.map(\.name)
    guard let place = places[id] else {
      return ConstraintConflict(row, constraint: names, database: tables.row(id), earlier: nil)
    }
    if place >= changes.updated.count {
      let earlier = changes.inserted[place - changes.updated.count]
      return ConstraintConflict(row, constraint: names, database: nil, earlier: earlier)
    }
    let update = changes.updated[place]
    let isTaken = constraint.contains { update.values[$0.slot] != update.committed[$0.slot] }
    let other = StoreRow(id: update.id, values: isTaken ? update.values : update.committed)
    return ConstraintConflict(
      row, constraint: names, database: isTaken ? nil : other, earlier: isTaken ? other : nil)
  }
}

extension StoreChanges {
  /// Whether a row that is written has uniqueness constraints.
  fileprivate var hasUniqueRows: Bool {
    updated.contains { !$0.id.entity.uniquenessConstraints.isEmpty }
      || inserted.contains { !$0.id.entity.uniquenessConstraints.isEmpty }
  }
}
