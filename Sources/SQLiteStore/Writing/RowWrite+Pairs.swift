import GRDB
import ManagedObjects

extension RowWrite {
  /// Writes what changed in many-to-many relationships. Both sides may say the same; saying it twice does no harm.
  func writePairs(_ changes: StoreChanges, _ ids: [ManagedObjectID]) throws {
    if hasPairs {
      for (row, id) in zip(changes.inserted, ids) {
        for relationship in try store.layout(of: row.id.entity).pairings {
          try writePairs(relationship, of: id.number, old: [], new: row.values[relationship.slot])
        }
      }
    }
    for update in changes.updated {
      for relationship in try store.layout(of: update.id.entity).pairings {
        guard update.values[relationship.slot] != update.committed[relationship.slot] else { continue }
        let old = update.committed[relationship.slot].objectIDs ?? []
        try writePairs(relationship, of: update.id.number, old: old, new: update.values[relationship.slot])
      }
    }
  }

  private func writePairs(
    _ relationship: RelationshipDescription, of owner: Int64, old: Set<ManagedObjectID>, new: Value
  ) throws {
    guard let ids = new.objectIDs else { return }
    let pair = store.schema.pairing(of: relationship)
    let columns = (pair.sourceColumn.quotedName, pair.destinationColumn.quotedName)
    let delete = "DELETE FROM \(pair.table.quotedName) WHERE \(columns.0) = ? AND \(columns.1) = ?"
    let insert = "INSERT OR IGNORE INTO \(pair.table.quotedName) (\(columns.0), \(columns.1)) VALUES (?, ?)"
    func execute(_ sql: String, _ id: ManagedObjectID) throws {
      try db.cachedStatement(sql: sql).execute(arguments: [owner, number(id)])
      // A relationship that is its own inverse holds in both directions, and so do its pairs.
      guard relationship.inverseRelationship === relationship else { return }
      try db.cachedStatement(sql: sql).execute(arguments: [number(id), owner])
    }
    for id in old.subtracting(ids) { try execute(delete, id) }
    for id in ids.subtracting(old) { try execute(insert, id) }
  }
}
