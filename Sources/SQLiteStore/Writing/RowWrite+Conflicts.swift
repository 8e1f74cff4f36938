import Foundation
import GRDB
import GRDBSQLite
import ManagedObjects

extension RowWrite {
  /// A row that couldn't be written, and the row in its way.
  struct Clash {
    /// The row by the ID that the context knows.
    let row: StoreRow
    let constraint: [String]
    let inTheWay: StoreRow?
  }

  /// Notes a row that clashes with another, by every constraint that it breaks; any other error ends the write.
  func noteConflict(_ row: StoreRow, _ number: Int64, _ layout: RowLayout, isNew: Bool) throws {
    try throwUnlessUniqueness()
    let look = try looks[layout.entity.index] ?? ConstraintLook(layout, store, db)
    looks[layout.entity.index] = look
    let found = try look.clashes(of: number, row.values, isNew: isNew, binder, in: db)
    for clash in found {
      clashes.append(.init(row: row, constraint: clash.constraint.map(\.name), inTheWay: clash.row))
    }
    // A row number that is taken breaks no constraint of the model's.
    if found.isEmpty {
      clashes.append(
        .init(row: row, constraint: [layout.entity.primaryKey?.name ?? layout.keyColumn], inTheWay: nil))
    }
  }

  /// Throws what the last statement failed with, unless it was a uniqueness constraint.
  func throwUnlessUniqueness() throws {
    let error = db.lastError()
    switch error.extendedResultCode {
    case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID: return
    default: throw error
    }
  }

  /// What is noted, with the rows in the way as they were before this write, or by the IDs that the context knows of the
  /// objects that this write puts there.
  func conflicts(_ changes: StoreChanges, _ ids: [ManagedObjectID]) -> [ConstraintConflict] {
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
