/// Finds the uniqueness conflicts of a write into a store in memory, after its rows have been put there.
///
/// A row clashes with one that keeps its values, or with one that is written before: updates in their order, then new rows
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
          // A row that keeps its values comes before all.
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
  /// Whether a row that is written has unique values.
  fileprivate var hasUniqueRows: Bool {
    updated.contains { !$0.id.entity.uniquenessConstraints.isEmpty }
      || inserted.contains { !$0.id.entity.uniquenessConstraints.isEmpty }
  }
}
