package import ManagedObjects

/// The rows of a write that violate uniqueness constraints, collected so that the error holds all of them.
package struct UniquenessClashes {
  /// A row that couldn't be written, and the row that it conflicts with.
  private struct Clash {
    /// The row by the ID that the context knows.
    let row: StoreRow
    let constraint: [String]
    let inTheWay: StoreRow?
  }

  private var clashes: [Clash] = []

  package init() {}

  package var isEmpty: Bool { clashes.isEmpty }

  /// Collects the constraints that a row violates, each with the conflicting row as it is stored.
  package mutating func note(_ row: StoreRow, _ found: [(constraint: [String], row: StoreRow?)]) {
    for clash in found { clashes.append(Clash(row: row, constraint: clash.constraint, inTheWay: clash.row)) }
  }

  /// The collected conflicts, with the conflicting rows as they were before this write, or, for rows of this write, with the
  /// IDs that the context knows.
  package func conflicts(_ changes: StoreChanges, _ ids: [ManagedObjectID]) -> [ConstraintConflict] {
    let refused = Set(clashes.map(\.row.id))
    var placed: [ManagedObjectID: StoreRow] = [:]
    for (row, id) in zip(changes.inserted, ids) where !refused.contains(row.id) { placed[id] = row }
    var updates: [ManagedObjectID: StoreChanges.Update] = [:]
    for update in changes.updated { updates[update.id] = update }
    return clashes.map { clash in
      guard let inTheWay = clash.inTheWay else {
        return ConstraintConflict(clash.row, constraint: clash.constraint, database: nil, earlier: nil)
      }
      if let row = placed[inTheWay.id] {
        return ConstraintConflict(clash.row, constraint: clash.constraint, database: nil, earlier: row)
      }
      guard let update = updates[inTheWay.id] else {
        return ConstraintConflict(clash.row, constraint: clash.constraint, database: inTheWay, earlier: nil)
      }
      let isTaken = clash.constraint.contains { name in
        update.id.entity.slot(of: name).map { update.values[$0] != update.committed[$0] } ?? false
      }
      let row = StoreRow(id: update.id, values: isTaken ? update.values : update.committed)
      return ConstraintConflict(
        clash.row, constraint: clash.constraint, database: isTaken ? nil : row, earlier: isTaken ? row : nil)
    }
  }
}
