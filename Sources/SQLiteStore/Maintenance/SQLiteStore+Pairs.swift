import GRDB
package import ManagedObjects

extension SQLiteStore: PairMaintenance {
  package func danglingPairs() throws -> [(relationship: RelationshipDescription, count: Int)] {
    try translating {
      try read { db in
        try schema.joinTables.compactMap { table in
          let sql = "SELECT COUNT(*) FROM \(table.name.quotedName) WHERE \(isDangling(table))"
          let count = try Int.fetchOne(db, sql: sql) ?? 0
          return count > 0 ? (table.relationship, count) : nil
        }
      }
    }
  }

  package func removeDanglingPairs() throws -> [(relationship: RelationshipDescription, count: Int)] {
    try translating {
      try writer.write { db in
        try schema.joinTables.compactMap { table in
          try db.execute(sql: "DELETE FROM \(table.name.quotedName) WHERE \(isDangling(table))")
          return db.changesCount > 0 ? (table.relationship, db.changesCount) : nil
        }
      }
    }
  }

  /// The condition for a pair of which one object isn't there.
  private func isDangling(_ table: JoinTable) -> String {
    let ends = [
      (table.sourceColumn, table.relationship.entity), (table.destinationColumn, table.relationship.destinationEntity),
    ]
    return ends.map { column, entity in
      "NOT EXISTS (SELECT 1 FROM \(schema.table(of: entity).quotedName) AS o WHERE "
        + "o.\(schema.primaryKeyColumn(of: entity).quotedName) = \(table.name.quotedName).\(column.quotedName))"
    }.joined(separator: " OR ")
  }
}
