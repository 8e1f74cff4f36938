import Foundation
import GRDB
import GRDBSQLite
import ManagedObjects

/// One save's rows on their way into the tables, within a transaction.
///
/// Conflicts are collected, so that the caller learns of all of them; the transaction is then given up.
final class RowWrite {
  let db: Database
  let store: SQLiteStore
  let binder = RowBinder()
  var numbers: RowNumbers
  /// Whether new rows may refer to each other, and whether some have pairs in tables of their own.
  private var hasReferences = false
  private(set) var hasPairs = false
  private var numbered: [ManagedObjectID: Int64] = [:]
  var clashes: [Clash] = []
  /// Questions for what is in a row's way, by the entity's index.
  var looks: [Int: ConstraintLook] = [:]

  init(_ db: Database, store: SQLiteStore) throws {
    self.db = db
    self.store = store
    numbers = RowNumbers(of: store.writer)
  }

  // MARK: Identity

  /// The permanent ID of each new row, in order. Changed rows may refer to new ones as well.
  func assignIDs(to rows: [StoreRow], _ updates: [StoreChanges.Update]) throws -> [ManagedObjectID] {
    hasReferences = updates.contains { !$0.id.entity.relationships.isEmpty }
    var ids: [ManagedObjectID] = []
    ids.reserveCapacity(rows.count)
    var layout: RowLayout?
    for row in rows {
      if layout?.entity !== row.id.scope.entity {
        let next = try store.layout(of: row.id.scope.entity)
        if !next.entity.relationships.isEmpty { hasReferences = true }
        if !next.pairings.isEmpty { hasPairs = true }
        layout = next
      }
      guard let layout, row.id.isTemporaryID else {
        ids.append(row.id)
        continue
      }
      if let slot = layout.keySlot, case .int(let number) = row.values[slot] {
        ids.append(ManagedObjectID(scope: layout.scope, number: number))
      } else {
        ids.append(ManagedObjectID(scope: layout.scope, number: try numbers.next(layout, db)))
      }
    }
    if hasReferences {
      for (row, id) in zip(rows, ids) where row.id.isTemporaryID { numbered[row.id] = id.number }
      binder.permanentNumber = { [numbered] in numbered[$0] }
    }
    return ids
  }

  func number(_ id: ManagedObjectID) -> Int64? { id.isTemporaryID ? numbered[id] : id.number }

  /// Keeps the numbers given, and throws the uniqueness conflicts and broken references found.
  func finish(_ changes: StoreChanges, _ ids: [ManagedObjectID], _ savedRows: [SavedRows]) throws {
    guard clashes.isEmpty else { throw ManagedObjectError.constraintConflicts(conflicts(changes, ids)) }
    if let date = binder.unstorable {
      throw ManagedObjectError.store(
        path: store.url?.path ?? "", code: SQLITE_RANGE,
        message: "a date \(date.timeIntervalSince1970) seconds from 1970 isn't in the years 0 to 9999")
    }
    try checkReferences(changes, ids, savedRows)
    try numbers.keep(db)
  }
}
