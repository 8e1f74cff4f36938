import GRDB
package import ManagedObjects

extension SQLiteStore {
  package func optimise(sampling rows: Int?, _ watch: MaintenanceWatch) throws -> Int {
    try writer.refuseInTransaction("analyse the store")
    let count = try translating {
      let tables = try writer.withoutTransaction { db in
        try String.fetchAll(
          db,
          sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
            + "ORDER BY name")
      }
      for (number, table) in tables.enumerated() {
        // A table at a time, so that who wants to write comes in between.
        try writer.withoutTransaction { db in
          try db.execute(sql: "PRAGMA analysis_limit = \(rows ?? 0)")
          try db.watched(by: watch) {
            // Another program may have dropped it.
            guard try db.tableExists(table) else { return }
            try db.execute(sql: "ANALYZE \(table.quotedName)")
          }
        }
        watch.report(MaintenanceProgress(items: Int64(number + 1)))
      }
      return tables.count
    }
    // Connections look at the counts when they read the schema, once.
    pool.invalidateReadOnlyConnections()
    return count
  }
}
