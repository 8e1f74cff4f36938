// Other programs may have put indexes and triggers on the store's tables, and views over them. A table that a migration
// makes anew loses its own; so they are noted before and made again after everything else. A trigger that no longer
// compiles would fail every save of its table, so it can't stay.

import GRDB
import ManagedObjects

/// Indexes, triggers and views in the file that aren't the store's.
struct OthersObjects {
  private struct Object {
    let type: String
    let name: String
    let table: String
    let sql: String

    /// What to tell of it.
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

  /// What is in a file whose store has a schema.
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
      // What doesn't work is nothing that a migration could break.
      if object.type == "view", Self.failure(of: object, db) != nil { continue }
      objects.append(object)
    }
  }

  /// Makes everything again that is gone, and takes away the triggers that no longer compile.
  /// - Returns: what couldn't be kept.
  func restore(_ db: Database) throws -> [MigrationObstacle] {
    var losses: [MigrationObstacle] = []
    for object in objects where object.type != "trigger" {
      if object.type == "index" {
        if let error = try make(object, db) { losses.append(object.loss(error)) }
      } else if let error = Self.failure(of: object, db) {
        losses.append(object.loss(error))
      }
    }
    // One after the other, so that one that doesn't compile isn't taken for the next.
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

  /// Makes an object that isn't there. Returns why that doesn't work.
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

  /// Why what a table's triggers do doesn't compile any more; nil when it does.
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
          // Of a view only those changes can be made that a trigger stands for.
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
  /// Whether a view was to be changed in a way that none of its triggers is for.
  fileprivate var isOfAViewWithoutTrigger: Bool { message?.hasSuffix("because it is a view") == true }

  /// Whether the statement is what is wrong, or rows that it doesn't fit, and not the file or the disk.
  fileprivate var isOfTheStatement: Bool {
    [.SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_AUTH].contains(resultCode)
  }
}
