import GRDB
import GRDBSQLite
import ManagedObjects

// Foreign keys are deferred: SQLite counts what is broken and refuses the commit without a word on which it is. A count
// that isn't zero is looked into beforehand, with the rows of this write only.

extension RowWrite {
  /// - Throws: ``ManagedObjectError/brokenReferences(_:)`` with every relationship of this write that leads nowhere.
  func checkReferences(_ changes: StoreChanges, _ ids: [ManagedObjectID], _ savedRows: [SavedRows]) throws {
    var (broken, highest): (Int32, Int32) = (0, 0)
    sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_DEFERRED_FKS, &broken, &highest, 0)
    guard broken != 0 else { return }
    var found: [BrokenReference] = []
    for (row, id) in zip(changes.inserted, ids) {
      try find(row.values, former: nil, of: id, as: row.id, &found)
    }
    for saved in savedRows {
      for row in saved.numbers.indices {
        let new = saved.rows.row(row)
        try find(new.values, former: nil, of: saved.id(row), as: new.id, &found)
      }
    }
    for update in changes.updated {
      try find(update.values, former: update.committed, of: update.id, as: update.id, &found)
    }
    for row in changes.deleted { try findReferrers(of: row.id, &found) }
    // None found: the commit will tell in SQLite's words.
    guard found.isEmpty else { throw ManagedObjectError.brokenReferences(found) }
  }

  private func find(
    _ values: ContiguousArray<Value>, former: ContiguousArray<Value>?, of id: ManagedObjectID,
    as given: ManagedObjectID, _ found: inout [BrokenReference]
  ) throws {
    for relationship in id.entity.relationships
    where !relationship.isTransient && former?[relationship.slot] != values[relationship.slot] {
      var targets: [ManagedObjectID] = []
      switch values[relationship.slot] {
      case .object(let target): targets = [target]
      case let set where relationship.isManyToMany: targets = Array(set.objectIDs ?? [])
      default: continue
      }
      let layout = try store.layouts(of: relationship.destinationEntity.rootEntity)[0]
      let sql = "SELECT 1 FROM \(layout.table.quotedName) WHERE \(layout.keyColumn.quotedName) = ?"
      for target in targets where number(target) != nil {
        if try Int.fetchOne(db.cachedStatement(sql: sql), arguments: [number(target)]) == nil {
          found.append(
            .init(objectID: given, relationship: relationship.name, missingObjectID: target))
        }
      }
    }
  }

  /// Rows that refer to one that is gone, and that no clearing reaches: the delete rule would have taken them along, or
  /// would have denied the deletion, had they been known.
  private func findReferrers(of id: ManagedObjectID, _ found: inout [BrokenReference]) throws {
    for relationship in id.entity.references where !relationship.isToMany && store.holds(relationship.entity) {
      let layouts = try store.layouts(of: relationship.entity)
      let reader = RowReader(layouts, slots: [])
      let table = layouts[0].table.quotedName
      let columns = reader.selection.map(\.quotedName).joined(separator: ", ")
      let column = store.schema.column(of: relationship, in: relationship.entity).quotedName
      let statement = try db.cachedStatement(sql: "SELECT \(columns) FROM \(table) WHERE \(column) = ?")
      try statement.setArguments([id.number])
      for row in try statement.collect(reader, in: db) {
        found.append(
          .init(
            objectID: row.id, relationship: relationship.name, missingObjectID: id, isDeletedBySave: true))
      }
    }
  }
}
