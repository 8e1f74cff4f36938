import Foundation
import GRDB
import ManagedObjects

/// Creates a store's tables, or makes sure that those which are there fit the model.
struct SchemaSetup {
  let schema: SchemaMap
  let path: String
  /// What the file is to say of the model.
  let version: KeptVersion

  /// - Returns: the store's identifier.
  func prepare(_ db: Database) throws -> String {
    var identifier = ""
    try db.inTransaction(.immediate) {
      try db.execute(sql: "CREATE TABLE IF NOT EXISTS lade_metadata (key TEXT PRIMARY KEY, value) WITHOUT ROWID")
      if let known = try String.fetchOne(db, sql: "SELECT value FROM lade_metadata WHERE key = 'identifier'") {
        identifier = known
      } else {
        identifier = UUID().uuidString
        try db.execute(
          sql: "INSERT INTO lade_metadata (key, value) VALUES ('identifier', ?)", arguments: [identifier])
      }
      try addPositions(db)
      try checkColumns(db)
      for statement in schema.createStatements { try db.execute(sql: statement) }
      if try KeptVersion(db, path: path) != version { try version.write(db) }
      return .commit
    }
    return identifier
  }

  /// Files made before orders were stored have no columns for positions; what they hold has none then, and comes in the
  /// order of its numbers.
  private func addPositions(_ db: Database) throws {
    for (table, columns) in schema.positionColumnsByTable {
      let present = try Set(
        String.fetchAll(db, sql: "SELECT lower(name) FROM pragma_table_info(?)", arguments: [table]))
      for column in columns where !present.isEmpty && !present.contains(column.lowercased()) {
        try db.execute(sql: "ALTER TABLE \(table.quotedName) ADD COLUMN \(column.quotedName) INTEGER")
      }
    }
  }

  /// A table that is there must have every column that the model wants.
  private func checkColumns(_ db: Database) throws {
    var missing: [String] = []
    for (table, columns) in schema.columnsByTable {
      let present = try Set(
        String.fetchAll(db, sql: "SELECT lower(name) FROM pragma_table_info(?)", arguments: [table]))
      if present.isEmpty { continue }
      missing += columns.filter { !present.contains($0.lowercased()) }.map { "\(table).\($0)" }
    }
    guard missing.isEmpty else {
      throw ManagedObjectError.incompatibleStore(
        path: path,
        reason:
          "the file was made with another version of the model; it has no \(missing.sorted().joined(separator: ", "))")
    }
  }
}
