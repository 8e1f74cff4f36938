// Opening a file is one transaction, whether its tables are created, migrated or checked: a killed process leaves either the
// old or the new tables, and two programs that open the file at once do so one after the other.

import Foundation
import GRDB
import ManagedObjects
import SQLSchema

/// Makes a file's tables fit the model: creates, migrates or checks them.
struct StoreOpening {
  let model: ManagedObjectModel
  /// The entities that the store will hold.
  let entities: [EntityDescription]
  let path: String
  let options: MigrationOptions
  /// The identifier of a new file; nil to make one.
  var newIdentifier: String?
  /// Logs the migration; nil when nothing is logged.
  var log: SQLLog?

  /// The result of opening a file.
  struct Opened {
    let identifier: String
    let schema: SchemaMap
    /// Whether the file was made or migrated.
    var isChanged = false
  }

  /// Brings the file up to date. Changes the connection's settings for foreign keys and durability while it runs.
  func open(_ db: Database) throws -> Opened {
    // As SQLite's "Making Other Kinds Of Table Schema Changes" requires: neither can be changed in a transaction. Renaming a
    // table must not change references to it, because they contain its final name already.
    try db.execute(sql: "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; PRAGMA synchronous = FULL")
    let result = Result {
      guard let shouldStop = options.shouldStop else { return try openInTransaction(db) }
      return try db.watched(by: MaintenanceWatch(shouldStop: shouldStop)) { try openInTransaction(db) }
    }
    try SideFile(path: path).letGo(db)
    try db.execute(sql: "PRAGMA foreign_keys = ON; PRAGMA legacy_alter_table = OFF")
    return try result.get()
  }

  private func openInTransaction(_ db: Database) throws -> Opened {
    var opened: Opened?
    try db.inTransaction(.immediate) {
      // No other connection migrates while this one holds the write lock: a side file was left by a killed process.
      try SideFile(path: path).remove()
      let identifier = try identifier(db)
      try StoreFormat.check(db, path: path)
      let kept = try StoredVersion(db, path: path)
      let held = kept.map { entitiesToKeep($0) } ?? entities
      let schema = try SchemaMap(model: model, entities: held)
      let version = try StoredVersion(model, held)
      if kept == nil { try addPositions(schema, db) }
      let missing = try missingColumns(schema, db)
      if let kept, kept != version || !missing.isEmpty {
        let opened = Opened(identifier: identifier, schema: schema)
        func migrate() throws { try migrateKeepingOthers(db, from: kept, held, opened) }
        let (old, new) = (kept.identifiers.joined(separator: ", "), version.identifiers.joined(separator: ", "))
        if let log { try log.timing("migration from version [\(old)] to [\(new)]", migrate) } else { try migrate() }
      } else {
        guard missing.isEmpty else {
          throw ManagedObjectError.incompatibleStore(
            path: path,
            reason: "the file was made with another version of the model, before files kept their model; it has no "
              + missing.sorted().joined(separator: ", "))
        }
        for statement in schema.createStatements { try db.execute(sql: statement) }
      }
      if kept != version { try version.write(db) }
      if !ExternalData.places(of: schema).isEmpty { try StoreFormat.noteExternalData(db) }
      opened = Opened(identifier: identifier, schema: schema, isChanged: kept != version)
      return .commit
    }
    guard let opened else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
    return opened
  }

  /// Checks, without changing the file, that its tables are those of the model.
  func check(_ db: Database) throws -> Opened {
    guard try db.tableExists("lade_metadata"), let identifier = try StoredVersion.text("identifier", db) else {
      throw ManagedObjectError.incompatibleStore(path: path, reason: "it is no store, and is opened for reading only")
    }
    try StoreFormat.refuseLater(db, path: path)
    let kept = try StoredVersion(db, path: path)
    let held = kept.map { entitiesToKeep($0) } ?? entities
    if let kept {
      let hashes = try StoredVersion(model, held).hashes
      guard kept.hashes == hashes else {
        throw MigrationError.incompatibleVersion(
          store: path,
          differences: VersionDifference.between(kept.hashes, hashes, from: try kept.model(path: path), to: model))
      }
    }
    let schema = try SchemaMap(model: model, entities: held)
    try kept.map { try checkFiles($0, schema) }
    let missing = try missingColumns(schema, db) + missingTables(schema, db)
    guard missing.isEmpty else {
      throw ManagedObjectError.incompatibleStore(
        path: path,
        reason:
          "it has no \(missing.sorted().joined(separator: ", ")), and a file that is opened for reading only isn't "
          + "changed: open it once for writing")
    }
    return Opened(identifier: identifier, schema: schema)
  }

  /// Refuses values in files of attributes that don't allow them any more: only a migration puts them into rows.
  private func checkFiles(_ kept: StoredVersion, _ schema: SchemaMap) throws {
    guard StoredForms.own.folder(ofDatabase: path).exists else { return }
    let former = try kept.model(path: path)
    let places = ExternalData.places(
      of: try SchemaMap(model: former, entities: former.entities.filter { kept.hashes[$0.name] != nil }))
    let now = ExternalData.places(of: schema)
    guard let lost = places.first(where: { !now.contains($0) }) else { return }
    throw ManagedObjectError.incompatibleStore(
      path: path,
      reason: "values of \(lost.table).\(lost.column) may be in files, which the model doesn't allow: open it once "
        + "for writing")
  }

  private func missingTables(_ schema: SchemaMap, _ db: Database) throws -> [String] {
    try schema.columnsByTable.keys.filter { try PresentTable.columns(of: $0, db).isEmpty }
  }

  /// Checks, without changing the file, that no migration is needed or that it can be inferred from the two versions.
  func checkMigration(_ db: Database) throws {
    guard let kept = try StoredVersion(db, path: path) else { return }
    try MigrationRoute.check(from: kept, to: model, entitiesToKeep(kept), options, store: path)
  }

  private func identifier(_ db: Database) throws -> String {
    try db.execute(sql: "CREATE TABLE IF NOT EXISTS lade_metadata (key TEXT PRIMARY KEY, value) WITHOUT ROWID")
    if let known = try StoredVersion.text("identifier", db) { return known }
    let new = newIdentifier ?? UUID().uuidString
    try StoredVersion.set("identifier", new, db)
    return new
  }

  /// The entities that the store will hold, and those in the file that another store will hold from now on: their rows stay,
  /// and are migrated too.
  private func entitiesToKeep(_ kept: StoredVersion) -> [EntityDescription] {
    let wanted = Set(entities)
    return model.entities.filter { entity in
      wanted.contains(entity) || kept.hashes[entity.name] != nil
    }
  }

  /// Adds the position columns to a file that was made before orders were stored. Its members have no positions, and come in
  /// the order of their numbers.
  private func addPositions(_ schema: SchemaMap, _ db: Database) throws {
    for (table, columns) in schema.positionColumnsByTable {
      let present = try PresentTable.columns(of: table, db)
      for column in columns where !present.isEmpty && !present.contains(column.lowercased()) {
        try db.execute(sql: "ALTER TABLE \(SQLText.name(table)) ADD COLUMN \(SQLText.name(column)) INTEGER")
      }
    }
  }

  /// Columns of the model that existing tables lack.
  private func missingColumns(_ schema: SchemaMap, _ db: Database) throws -> [String] {
    try schema.columnsByTable.flatMap { table, columns -> [String] in
      let present = try PresentTable.columns(of: table, db)
      if present.isEmpty { return [] }
      return columns.filter { !present.contains($0.lowercased()) }.map { "\(table).\($0)" }
    }
  }

  // MARK: Migration

  /// Migrates, and restores other programs' indexes, triggers and views.
  private func migrateKeepingOthers(
    _ db: Database, from kept: StoredVersion, _ held: [EntityDescription], _ opened: Opened
  ) throws {
    let source = try kept.model(path: path)
    let old = try SchemaMap(model: source, entities: source.entities.filter { kept.hashes[$0.name] != nil })
    let others = try ThirdPartyObjects(db, besides: old)
    try migrate(db, from: kept, held, opened)
    try options.accept(others.restore(db), store: path)
  }

  private func migrate(
    _ db: Database, from kept: StoredVersion, _ held: [EntityDescription], _ opened: Opened
  ) throws {
    let route = try MigrationRoute(from: kept, to: model, held, options, store: path)
    let old = try SchemaMap(model: route.source, entities: route.sourceEntities)
    let side = SideMigration(
      db: db, path: path, route: route, sourceStore: Opened(identifier: opened.identifier, schema: old), model: model,
      entities: held)
    switch route.way {
    case .stages(let steps): try side.run(steps)
    case .mapping(let mapping): try side.run(mapping)
    case .inferred(let mapping):
      let tables = try TableMigration(
        SQLiteMigration(db: db, store: path), from: old, route.sourceEntities, to: opened.schema, held, mapping)
      try tables.run()
      let derived = tables.derivedAnew
      guard !derived.isEmpty else { return }
      let store = try SQLiteStore(migrating: URL(fileURLWithPath: path), entities: held, opened: opened)
      try MigratedDerivations.run(derived, DerivedTables(db: db, tables: store.tables)) { entity in
        try store.layout(of: entity).scope
      } numbers: { entity in
        let layout = try store.layout(of: entity)
        var sql = "SELECT \(layout.keyColumn.quotedName) FROM \(layout.table.quotedName)"
        if let column = layout.entityColumn { sql += " WHERE \(column.quotedName) = \(SQLText.literal(entity.name))" }
        return try Int64.fetchAll(db, sql: sql)
      }
      try store.pool.close()
    }
  }
}

/// Tables as they are in the file.
enum PresentTable {
  /// The table's columns, in lower case; none when there is no such table. Generated columns aren't among them.
  static func columns(of table: String, _ db: Database) throws -> Set<String> {
    try Set(String.fetchAll(db, sql: "SELECT lower(name) FROM pragma_table_info(?)", arguments: [table]))
  }

  /// The statement that made the table.
  static func statement(of table: String, _ db: Database) throws -> String? {
    try String.fetchOne(
      db, sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND lower(name) = lower(?)", arguments: [table])
  }
}

/// The version of the table layout, a number in the file. A version of Lade that writes something which an earlier one would
/// misread raises it. The model has versions of its own.
enum StoreFormat {
  static let current = 2
  /// Without values in files beside the store.
  private static let plain = 1
  /// With such values, if the model allows them.
  private static let withFiles = 2
  private static let key = "format"

  /// Refuses a file of a later format, and numbers a new file.
  /// - Throws: `ManagedObjectError.incompatibleStore`.
  static func check(_ db: Database, path: String) throws {
    try refuseLater(db, path: path)
    if try StoredVersion.text(key, db) == nil { try StoredVersion.set(key, "\(plain)", db) }
  }

  /// The file's rows may refer to files of large values.
  static func noteExternalData(_ db: Database) throws {
    if try StoredVersion.text(key, db) != "\(withFiles)" { try StoredVersion.set(key, "\(withFiles)", db) }
  }

  /// Refuses a file of a later format.
  /// - Throws: `ManagedObjectError.incompatibleStore`.
  static func refuseLater(_ db: Database, path: String) throws {
    guard let text = try StoredVersion.text(key, db) else { return }
    guard let format = Int(text), format <= current else {
      throw ManagedObjectError.incompatibleStore(
        path: path,
        reason:
          "a later version of Lade made it (format \(text), and this one reads formats up to \(current)): "
          + "install that version, or restore a backup from before")
    }
  }
}
