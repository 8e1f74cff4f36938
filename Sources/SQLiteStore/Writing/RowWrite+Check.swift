import Foundation
import GRDB
import GRDBSQLite
import ManagedObjects

// Optimistic locking: a row is changed or deleted only while it holds the values that were read. All rows are looked at
// before the first is written, for deleting one may clear a column of another.

extension RowWrite {
  /// - Throws: ``ManagedObjectError/mergeConflicts(_:)`` with every row that isn't as it was read.
  func check(_ changes: StoreChanges) throws {
    var conflicts: [MergeConflict] = []
    var look: RowLook?
    func check(_ id: ManagedObjectID, _ object: ContiguousArray<Value>?, _ read: ContiguousArray<Value>) throws {
      let layout = try store.layout(of: id.entity)
      if look?.layout !== layout { look = try RowLook(layout, db) }
      guard let row = try look?.row(id.number, in: db) else {
        conflicts.append(.init(id, object: object, cached: read, persisted: nil))
        return
      }
      for column in layout.columns
      where !column.isDerived && !row.values[column.slot].isStoredAlike(read[column.slot]) {
        conflicts.append(.init(id, object: object, cached: read, persisted: row.values))
        return
      }
    }
    for update in changes.updated { try check(update.id, update.values, update.committed) }
    for row in changes.deleted { try check(row.id, nil, row.values) }
    guard conflicts.isEmpty else { throw ManagedObjectError.mergeConflicts(conflicts) }
  }
}

/// Reads rows of one entity by their numbers.
private struct RowLook {
  let layout: RowLayout
  private let reader: RowReader
  private let statement: Statement

  init(_ layout: RowLayout, _ db: Database) throws {
    self.layout = layout
    let look = layout.lookByNumber()
    reader = look.reader
    statement = try db.cachedStatement(sql: look.statement)
  }

  func row(_ number: Int64, in db: Database) throws -> StoreRow? {
    try statement.setArguments([number])
    return try statement.collect(reader, in: db).first
  }
}
