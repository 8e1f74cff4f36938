import GRDB
import GRDBSQLite
package import ManagedObjects

extension SQLiteStore {
  /// What notes or derives from rows takes them as they are among objects.
  package var takesNewRows: Bool { !hasDerivations && !options.persistentHistoryTracking }

  /// Writes a save in one transaction: after a look at the rows to be changed, which must be as they were read,
  /// deletions, then changes, then new rows, then pairs of many-to-many relationships. Foreign keys are checked at the
  /// commit, so that the order among rows doesn't matter.
  package func write(_ changes: StoreChanges) throws -> StoreWriteResult {
    try translating {
      try writer.write { db in
        var history: HistoryWriter?
        return try write(changes, isChecked: true, in: db, history: &history)
      }
    }
  }

  /// Writes changes within a transaction. If it throws, what it wrote is still there: the transaction is to be given up.
  /// - Parameters:
  ///   - isChecked: whether the rows must be looked at, for somebody else may have changed them.
  ///   - history: what notes the transaction's changes; made by its first write.
  func write(
    _ changes: StoreChanges, isChecked: Bool, in db: Database, history: inout HistoryWriter?
  ) throws -> StoreWriteResult {
    let write = try RowWrite(db, store: self)
    if isChecked { try write.check(changes) }
    var changes = changes
    var derivations = hasDerivations ? DerivationWrite() : nil
    var derived = DerivedTables(db: db, store: self)
    try derivations?.prepare(&changes, derived)
    try write.delete(changes.deleted)
    let ids = try write.assignIDs(to: changes.inserted, changes.updated)
    try write.update(changes.updated)
    try write.insert(changes.inserted, ids)
    let savedRows = try changes.newRows.map { try write.insert($0) }
    try write.writePairs(changes, ids)
    try write.writeOrders(changes, ids)
    let refreshed = try derivations?.finish(changes, ids, number: write.number, to: &derived) ?? []
    try write.finish(changes, ids, savedRows)
    if options.persistentHistoryTracking {
      let writer = history ?? HistoryWriter(db, author: changes.transactionAuthor, contextName: changes.contextName)
      history = writer
      try writer.note(changes, ids: ids)
    }
    return StoreWriteResult(ids: ids, savedRows: savedRows, refreshed: refreshed)
  }

  package func permanentIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID] {
    try translating {
      try writer.write { db in
        var numbers = RowNumbers(of: writer)
        let ids = try entities.map { entity in
          let layout = try layout(of: entity)
          return ManagedObjectID(scope: layout.scope, number: try numbers.next(layout, db))
        }
        try numbers.keep(db)
        return ids
      }
    }
  }
}
