// A migration that runs a program's code builds the new version in a file next to the store's, while the store's own
// connection holds the write lock, so that the new version lacks no write. The tables are then copied into the store's file,
// in the transaction that opens it: the old tables exist until all of the new ones do. The file isn't renamed over the old
// one: programs that have the old one open would continue to write to a file that no other program reads, and the log that one
// file leaves would be taken for the other's.

import Foundation
import GRDB
import ManagedObjects
import SQLSchema

/// Migrates a file through another one next to it, within the transaction of `db`.
struct SideMigration {
  let db: Database
  let path: String
  let route: MigrationRoute
  let sourceStore: StoreOpening.Opened
  let model: ManagedObjectModel
  let entities: [EntityDescription]

  private var side: SideFile { SideFile(path: path) }

  /// Converts the old objects into new ones by a mapping model.
  func run(_ mapping: MappingModel) throws {
    let old = try SQLiteStore(
      migrating: URL(fileURLWithPath: path), entities: route.sourceEntities, opened: sourceStore)
    let store = try SQLiteStore(
      at: side.url, model: model, entities: entities, newIdentifier: sourceStore.identifier)
    try raiseNumbers(store)
    let (from, to) = (PersistentStoreCoordinator(model: route.source), PersistentStoreCoordinator(model: model))
    try from.addPersistentStore(PersistentStoreDescription { _, _ in old })
    try to.addPersistentStore(PersistentStoreDescription { _, _ in store })
    let result = Result { try MigrationManager(mapping, from: from, to: to).run() }
    try store.close()
    try old.pool.close()
    try result.get()
    try takeOver()
  }

  /// Migrates a copy in stages.
  func run(_ steps: [StagedMigrationManager.Step]) throws {
    MigrationProbe.onStep?("VACUUM INTO")
    var configuration = Configuration.ofStores
    configuration.readonly = true
    let reader = try DatabaseQueue(path: path, configuration: configuration)
    do {
      try reader.inDatabase { try $0.execute(sql: "VACUUM INTO ?", arguments: [side.url.path]) }
    } catch let error as DatabaseError where error.message == "output file already exists" {
      // It doesn't: SQLite says so, too, where it can't ask the system for the length of the file that it has made.
      throw DatabaseError(resultCode: .SQLITE_IOERR_FSTAT, message: "the length of its copy can't be read")
    }
    try reader.close()
    var version = route.source
    for step in steps {
      try work(step.willMigrate, version)
      var options = MigrationOptions()
      if let mapping = step.mapping { options.mappingModels = [mapping] }
      // Losses of other programs' objects are reported for the store itself, at the end.
      options.migrationWarningHandler = { _ in }
      let store = try SQLiteStore(
        at: side.url, model: step.destination, entities: held(step.destination), migration: options)
      try store.close()
      version = step.destination
      try work(step.didMigrate, version)
    }
    try takeOver()
  }

  /// Runs a handler on the copy at one version.
  private func work(_ handler: StagedMigrationManager.Handler?, _ version: ManagedObjectModel) throws {
    try StagedMigrationManager.run(handler, version) {
      try SQLiteStore(at: side.url, model: version, entities: held(version))
    }
  }

  private func held(_ version: ManagedObjectModel) -> [EntityDescription] { route.held(version, to: model, entities) }

  /// Reserves the old numbers: objects that policies make get higher ones, so that the others can keep theirs.
  private func raiseNumbers(_ store: SQLiteStore) throws {
    try store.raiseNumbers(above: SQLiteStore.highestNumber(in: sourceStore.schema, db))
  }

  /// Replaces the old tables by the new ones. Other tables stay.
  private func takeOver() throws {
    try side.attach(to: db)
    for table in sourceStore.schema.columnsByTable.keys.sorted() {
      try execute("DROP TABLE IF EXISTS main.\(SQLText.name(table))")
    }
    let things = try Row.fetchAll(
      db,
      sql:
        "SELECT type, name, sql FROM fresh.sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
        + "AND name <> 'lade_metadata' ORDER BY type <> 'table'")
    for thing in things {
      let (type, name, sql): (String, String, String) = (thing["type"], thing["name"], thing["sql"])
      guard type == "table" else {
        let isThere = try Bool.fetchOne(
          db, sql: "SELECT count(*) FROM main.sqlite_master WHERE name = ?", arguments: [name])
        if isThere != true { try execute(sql) }
        continue
      }
      try execute("DROP TABLE IF EXISTS main.\(SQLText.name(name))")
      try execute(sql)
      let columns = try String.fetchAll(
        db, sql: "SELECT name FROM pragma_table_info(?, 'main')", arguments: [name]
      ).map { SQLText.name($0) }.joined(separator: ", ")
      try execute(
        "INSERT INTO main.\(SQLText.name(name)) (\(columns)) SELECT \(columns) FROM fresh.\(SQLText.name(name))")
    }
    try execute("DELETE FROM main.lade_metadata WHERE key LIKE 'last\\_number.%' ESCAPE '\\'")
    try execute("INSERT OR REPLACE INTO main.lade_metadata (key, value) SELECT key, value FROM fresh.lade_metadata")
    try checkReferences()
  }

  private func checkReferences() throws {
    let rows = try Row.fetchAll(db, sql: "PRAGMA main.foreign_key_check").prefix(5)
    let broken = rows.map { row in "\(row[0] as String? ?? "?") to \(row[2] as String? ?? "?")" }
    guard broken.isEmpty else { throw MigrationError.brokenReferences(store: path, references: broken) }
  }

  private func execute(_ sql: String) throws {
    MigrationProbe.onStep?(sql)
    try db.execute(sql: sql)
  }
}

/// The file next to a store's in which a migration by objects or in stages builds the new version.
struct SideFile {
  static let ending = ".migrating"
  let url: URL

  /// The file next to the store's.
  init(path: String) { url = URL(fileURLWithPath: path + Self.ending) }

  /// Makes the file's tables those of the schema `fresh` of a connection.
  func attach(to db: Database) throws {
    try db.execute(sql: "ATTACH DATABASE ? AS fresh", arguments: [url.path])
  }

  /// Detaches and removes the file after the transaction.
  func letGo(_ db: Database) throws {
    let names = try String.fetchAll(db, sql: "SELECT name FROM pragma_database_list")
    if names.contains("fresh") { try db.execute(sql: "DETACH DATABASE fresh") }
    try remove()
  }

  /// Removes the file with its log.
  func remove() throws {
    for ending in [""] + SQLiteStore.companionEndings {
      let path = url.path + ending
      if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
    }
  }
}
