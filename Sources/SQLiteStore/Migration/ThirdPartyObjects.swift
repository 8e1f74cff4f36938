// Other programs may have added indexes and triggers to the store's tables, and views over them. A table that a migration
// rebuilds loses them; so they are recorded before the migration and made again at its end. A trigger that no longer compiles
// would fail every save of its table, so it is dropped.

import GRDB
import ManagedObjects
import SQLSchema

/// Indexes, triggers and views in the file that aren't the store's.
struct ThirdPartyObjects {
  private struct Object {
    let type: String
    let name: String
    let table: String
    let sql: String

    /// Its description in a warning.
    func loss(_ error: any Error) -> MigrationObstacle {
      let reason = (error as? DatabaseError)?.message ?? "\(error)"
      return MigrationObstacle(
        table, name,
        problem: type == "view"
          ? "is a view of another program, and can't be read any more (\(reason))"
          : "is \(type == "index" ? "an" : "a") \(type) of another program, and can't be kept (\(reason))",
        remedy: "drop it first, or, if the loss is meant, name it in permittedMigrationLosses (laded: "
          + "migration.allow_loss of the store)")
    }
  }

  private var objects: [Object] = []

  /// The objects in the file that the store's schema doesn't contain.
  init(_ db: Database, besides schema: SchemaMap) throws {
    let own = Set(schema.indexes.map { $0.name.lowercased() })
    let rows = try Row.fetchAll(
      db,
      sql: "SELECT type, name, tbl_name, sql FROM main.sqlite_master "
        + "WHERE type IN ('index', 'trigger', 'view') AND sql IS NOT NULL ORDER BY rowid")
    for row in rows {
      let object = Object(type: row["type"], name: row["name"], table: row["tbl_name"], sql: row["sql"])
      let name = object.name.lowercased()
      if own.contains(name) || name.hasPrefix("lade_") || name.hasPrefix("sqlite_") { continue }
      // A view that doesn't work already can't be broken by the migration.
      if object.type == "view", Self.failure(of: object, db) != nil { continue }
      objects.append(object)
    }
  }

  /// Makes missing objects again, and drops triggers that no longer compile.
  /// - Returns: the objects that couldn't be kept.
  func restore(_ db: Database) throws -> [MigrationObstacle] {
    var losses: [MigrationObstacle] = []
    for object in objects where object.type != "trigger" {
      if object.type == "index" {
        if let error = try make(object, db) { losses.append(object.loss(error)) }
      } else if let error = Self.failure(of: object, db) {
        losses.append(object.loss(error))
      }
    }
    // One after the other, so that a failure is attributed to the right one.
    let triggers = objects.filter { $0.type == "trigger" }
    for trigger in triggers { try execute("DROP TRIGGER IF EXISTS \(SQLText.name(trigger.name))", db) }
    for trigger in triggers {
      if let error = try make(trigger, db) {
        losses.append(trigger.loss(error))
      } else if let error = try Self.failure(ofTriggersOn: trigger.table, db) {
        try execute("DROP TRIGGER \(SQLText.name(trigger.name))", db)
        losses.append(trigger.loss(error))
      }
    }
    return losses
  }

  /// Makes a missing object. Returns the reason if that fails.
  private func make(_ object: Object, _ db: Database) throws -> (any Error)? {
    let isThere = try Bool.fetchOne(
      db, sql: "SELECT count(*) FROM main.sqlite_master WHERE type = ? AND name = ?",
      arguments: [object.type, object.name])
    if isThere == true { return nil }
    do {
      try execute(object.sql, db)
      return nil
    } catch let error as DatabaseError where error.isOfTheStatement {
      return error
    }
  }

  private static func failure(of view: Object, _ db: Database) -> (any Error)? {
    failure(ofCompiling: ["SELECT * FROM \(SQLText.name(view.name)) LIMIT 0"], db)
  }

  /// Why a table's triggers no longer compile; nil when they do.
  private static func failure(ofTriggersOn table: String, _ db: Database) throws -> (any Error)? {
    let columns = try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info(?)", arguments: [table])
    let name = SQLText.name(table)
    let all = columns.map { "\(SQLText.name($0)) = \(SQLText.name($0))" }.joined(separator: ", ")
    return failure(
      ofCompiling: ["INSERT INTO \(name) DEFAULT VALUES", "UPDATE \(name) SET \(all)", "DELETE FROM \(name)"], db)
  }

  private static func failure(ofCompiling statements: [String], _ db: Database) -> (any Error)? {
    do {
      for statement in statements {
        do {
          _ = try db.makeStatement(sql: statement)
        } catch let error as DatabaseError where error.isOfAViewWithoutTrigger {
          // A view can only be changed through its triggers.
        }
      }
      return nil
    } catch {
      return error
    }
  }

  private func execute(_ sql: String, _ db: Database) throws {
    MigrationProbe.onStep?(sql)
    try db.execute(sql: sql)
  }
}

extension DatabaseError {
  /// Whether none of a view's triggers allows the change.
  fileprivate var isOfAViewWithoutTrigger: Bool { message?.hasSuffix("because it is a view") == true }

  /// Whether the statement or its rows are at fault, and not the file or the disk.
  fileprivate var isOfTheStatement: Bool {
    [.SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_AUTH].contains(resultCode)
  }
}
