import GRDB
package import ManagedObjects

extension SQLiteStore {
  package func reindex(_ entities: [EntityDescription]?, _ watch: MaintenanceWatch) throws -> Int {
    try writer.refuseInTransaction("make the store's indexes anew")
    let tables: Set<String>? = try entities.map { entities in try self.tables(of: entities) }
    try watch.check()
    return try translating {
      let names = try writer.withoutTransaction { db in
        try Row.fetchAll(
          db, sql: "SELECT name, tbl_name FROM sqlite_master WHERE type = 'index' ORDER BY tbl_name, name"
        )
        .filter { tables?.contains($0["tbl_name"]) ?? true }.map { $0["name"] as String }
      }
      var made = 0
      func done(_ isMade: Bool) {
        if isMade { made += 1 }
        watch.report(MaintenanceProgress(items: Int64(made)))
      }
      for name in names {
        // An index a transaction, so that who wants to write comes in between.
        done(
          try writer.withoutTransaction { db in
            try db.watched(by: watch) {
              try writer.transaction(on: db) {
                // A load may have taken it away meanwhile: see `postponeIndexes`.
                guard try isThere(name, db) else { return false }
                try db.execute(sql: "REINDEX \(name.quotedName)")
                return true
              }
            }
          })
      }
      for index in schema.indexes where tables?.contains(index.table) ?? true {
        done(
          try writer.withoutTransaction { db in
            try db.watched(by: watch) {
              guard postponements.withLock({ $0[index.table, default: 0] }) == 0, try !isThere(index.name, db)
              else { return false }
              try writer.transaction(on: db) { try db.execute(sql: index.createStatement) }
              return true
            }
          })
      }
      return made
    }
  }

  private func isThere(_ index: String, _ db: Database) throws -> Bool {
    let sql = "SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ?"
    return try Int.fetchOne(db, sql: sql, arguments: [index]) != nil
  }

  /// The tables that hold what belongs to entities, and the pairs of their many-to-many relationships.
  private func tables(of entities: [EntityDescription]) throws -> Set<String> {
    var tables = Set(try entities.map { try layout(of: $0).table })
    let roots = Set(entities.map(\.rootEntity))
    for join in schema.joinTables {
      let ends = [join.relationship.entity.rootEntity, join.relationship.destinationEntity.rootEntity]
      if ends.contains(where: roots.contains) { tables.insert(join.name) }
    }
    return tables
  }
}
