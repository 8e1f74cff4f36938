import CoreDataStores
package import Foundation
import GRDB
package import ManagedObjects

/// What must hold of every file of Core Data, read with plain SQL: what an app that opens the file relies on.
package struct CoreDataBookkeeping {
  private let queue: DatabaseQueue

  package init(_ url: URL) throws {
    var configuration = Configuration()
    configuration.readonly = true
    queue = try DatabaseQueue(path: url.path, configuration: configuration)
  }

  /// Everything that a save must leave as it is: the tables, their indexes and triggers, the metadata and the model.
  package func frame() throws -> [String] {
    try queue.read { db in
      var parts = try String.fetchAll(db, sql: "SELECT IFNULL(sql, name) FROM sqlite_master ORDER BY name")
      parts += try String.fetchAll(db, sql: "SELECT hex(Z_PLIST) || Z_UUID || Z_VERSION FROM Z_METADATA")
      if try db.tableExists("Z_MODELCACHE") {
        parts += try String.fetchAll(db, sql: "SELECT hex(Z_CONTENT) FROM Z_MODELCACHE")
      }
      parts += try String.fetchAll(db, sql: "SELECT Z_ENT || Z_NAME || Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT")
      return parts
    }
  }

  /// The rows of a query, each as text with bars between the values.
  package func rows(_ sql: String) throws -> [String] {
    try queue.read { db in
      try Row.fetchAll(db, sql: sql).map { row in
        row.databaseValues.map { value in
          switch value.storage {
          case .null: "NULL"
          case .int64(let number): "\(number)"
          case .double(let number): "\(number)"
          case .string(let text): text
          case .blob(let data): data.map { String(format: "%02x", $0) }.joined()
          }
        }.joined(separator: "|")
      }
    }
  }

  /// What is wrong, in words; empty if nothing is.
  package func problems(_ model: ManagedObjectModel) throws -> [String] {
    try queue.read { db in
      let layout = try CoreDataLayout(model, of: BookkeepingConnection(db: db))
      var found = layout.problems.values.map { "\($0.place) \($0.reason)" }
      found += try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
      for root in model.entities where root.superentity == nil {
        guard let entity = layout.entity(root) else { continue }
        let numbers = root.selfAndDescendants.compactMap { layout.entity($0)?.number }.map(String.init)
        func count(_ condition: String, _ what: String) throws {
          let rows = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(entity.table) AS t WHERE \(condition)") ?? 0
          if rows > 0 { found.append("\(rows) rows of \(entity.table) \(what)") }
        }
        try count("t.Z_ENT IS NULL OR t.Z_ENT NOT IN (\(numbers.joined(separator: ", ")))", "are of no entity")
        try count("t.Z_OPT IS NULL OR t.Z_OPT < 1", "were never written")
        try count(
          "t.Z_PK > (SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(entity.number))", "have numbers that weren't given")
      }
      for entity in model.entities {
        guard let own = layout.entity(entity) else { continue }
        for relationship in entity.relationships where relationship.entity === entity {
          guard case .toOne(let reference)? = layout.place(of: relationship),
            let target = layout.entity(relationship.destinationEntity)
          else { continue }
          let row = "SELECT 1 FROM \(target.table) AS d WHERE d.Z_PK = t.\(reference.column)"
          let broken = try Int.fetchOne(
            db,
            sql:
              "SELECT count(*) FROM \(own.table) AS t WHERE t.\(reference.column) IS NOT NULL AND NOT EXISTS (\(row))")
          if let broken, broken > 0 {
            found.append("\(broken) references in \(own.table).\(reference.column) are broken")
          }
          guard let column = reference.entityColumn else { continue }
          let wrong = try Int.fetchOne(
            db,
            sql: "SELECT count(*) FROM \(own.table) AS t WHERE t.\(column) IS NOT "
              + "(SELECT d.Z_ENT FROM \(target.table) AS d WHERE d.Z_PK = t.\(reference.column))")
          if let wrong, wrong > 0 { found.append("\(wrong) values of \(own.table).\(column) name another entity") }
        }
      }
      for (relationship, join) in layout.joins {
        let ends = [(join.source, relationship.entity), (join.target, relationship.destinationEntity)]
        for (column, entity) in ends {
          guard let table = layout.entity(entity)?.table else { continue }
          let dangling = try Int.fetchOne(
            db, sql: "SELECT count(*) FROM \(join.table) WHERE \(column) NOT IN (SELECT Z_PK FROM \(table))")
          if let dangling, dangling > 0 { found.append("\(dangling) pairs of \(join.table) lead nowhere") }
        }
      }
      if try db.tableExists("ACHANGE") { found += try historyProblems(db) }
      return found
    }
  }

  private func historyProblems(_ db: Database) throws -> [String] {
    var found: [String] = []
    let tables = [("ACHANGE", "CHANGE"), ("ATRANSACTION", "TRANSACTION"), ("ATRANSACTIONSTRING", "TRANSACTIONSTRING")]
    for (table, name) in tables {
      let beyond = try Int.fetchOne(
        db,
        sql: "SELECT count(*) FROM \(table) WHERE Z_PK > (SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = ?) "
          + "OR Z_ENT <> (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = ?)", arguments: [name, name])
      if beyond != 0 { found.append("\(beyond ?? 0) rows of \(table) aren't counted") }
    }
    let conditions = [
      "SELECT count(*) FROM ACHANGE WHERE ZTRANSACTIONID NOT IN (SELECT Z_PK FROM ATRANSACTION)",
      "SELECT count(*) FROM ACHANGE WHERE ZENTITY NOT IN (SELECT Z_ENT FROM Z_PRIMARYKEY)",
      "SELECT count(*) FROM ACHANGE WHERE ZCHANGETYPE <> 1 AND ZCOLUMNS IS NOT NULL",
      "SELECT count(*) FROM ATRANSACTION WHERE ZPROCESSIDTS NOT IN (SELECT Z_PK FROM ATRANSACTIONSTRING)",
      "SELECT count(*) FROM ATRANSACTION WHERE ZAUTHORTS NOT IN (SELECT Z_PK FROM ATRANSACTIONSTRING)",
    ]
    for sql in conditions where try Int.fetchOne(db, sql: sql) != 0 { found.append("of history: \(sql)") }
    return found
  }
}

private struct BookkeepingConnection: CoreDataConnection {
  let db: Database

  func rows(_ sql: String) throws -> [[Value]] {
    try Row.fetchAll(db, sql: sql).map { row in
      row.databaseValues.map { value in
        switch value.storage {
        case .null: .null
        case .int64(let number): .int(number)
        case .double(let number): .double(number)
        case .string(let text): .string(text)
        case .blob(let data): .data(data)
        }
      }
    }
  }

  func declaredColumns(of table: String) throws -> [CoreDataSchema.Column] {
    try db.columns(in: table).map { CoreDataSchema.Column($0.name, $0.type) }
  }
}
