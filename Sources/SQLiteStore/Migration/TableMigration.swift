// Migration in place, by SQL alone: new tables are filled from the old ones, the old ones are dropped, and the new ones take
// their names, as SQLite's "Making Other Kinds Of Table Schema Changes" describes. All of it is part of the transaction that
// opens the file. Crash-safe: a killed process leaves either the old or the new tables. A table that already fits isn't
// touched.

import GRDB
import ManagedObjects

/// Changes a file's tables from one version of a model to another.
struct TableMigration {
  let db: Database
  let path: String
  let old: SchemaMap
  let new: SchemaMap
  /// The entities of both versions that the store holds.
  let sources: [EntityDescription]
  let destinations: [EntityDescription]
  let mapping: MappingModel
  /// The old entity of each new one.
  let origins: [EntityDescription: EntityDescription]
  /// The new entity of each old one.
  let images: [EntityDescription: EntityDescription]
  let numbers: NumberShifts
  /// The actual columns of the old tables, in lower case.
  let columns: [String: Set<String>]

  init(
    _ db: Database, path: String, from old: SchemaMap, _ sources: [EntityDescription], to new: SchemaMap,
    _ destinations: [EntityDescription], _ mapping: MappingModel
  ) throws {
    self.db = db
    self.path = path
    self.old = old
    self.new = new
    // A table holds a whole hierarchy, even if the store holds only some of its entities.
    self.sources = sources.filter { old.holds($0) }
    self.destinations = destinations.filter { new.holds($0) }
    self.mapping = mapping
    var origins: [EntityDescription: EntityDescription] = [:]
    for mapping in mapping.entityMappings {
      guard let from = mapping.sourceEntityName, let to = mapping.destinationEntityName,
        let origin = sources.first(where: { $0.name == from }),
        let image = destinations.first(where: { $0.name == to })
      else { continue }
      origins[image] = origin
    }
    self.origins = origins
    images = Dictionary(origins.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    numbers = try NumberShifts(db, old, new, origins)
    var columns: [String: Set<String>] = [:]
    for table in old.columnsByTable.keys { columns[table] = try PresentTable.columns(of: table, db) }
    self.columns = columns
  }

  /// Runs the migration.
  /// - Throws: ``MigrationError``, or SQLite's error.
  func run() throws {
    try checkAbstractEntities()
    var finished: Set<String> = []
    var renamings: [(from: String, to: String)] = []
    for table in new.tables {
      let plans = try rowPlans(of: table)
      if try isAsItShouldBe(table, plans) {
        finished.insert(table.name)
        continue
      }
      try checkKeys(of: table, plans)
      let draft = try create(table.createStatement, table.name)
      for plan in plans { try fill(draft, plan) }
      renamings.append((draft, table.name))
    }
    for table in new.joinTables {
      if try isAsItShouldBe(table) {
        finished.insert(table.name)
        continue
      }
      let draft = try create(table.createStatement, table.name)
      try fill(draft, table)
      renamings.append((draft, table.name))
    }
    try renumberHistory()
    for table in old.columnsByTable.keys.sorted() where !finished.contains(table) {
      try execute("DROP TABLE IF EXISTS \(SQLText.name(table))")
    }
    for (draft, name) in renamings {
      try execute("ALTER TABLE \(SQLText.name(draft)) RENAME TO \(SQLText.name(name))")
    }
    try makeIndexes()
    try clearLostReferences()
    try checkRequiredRelationships()
    try checkReferences()
    try numbers.keep(db, old, new)
  }

  /// Creates a table under an unused name, and returns the name.
  private func create(_ statement: String, _ name: String) throws -> String {
    let draft = "lade_new_" + name
    let start = "CREATE TABLE IF NOT EXISTS \(SQLText.name(name))"
    guard statement.hasPrefix(start) else {
      throw DatabaseError(
        resultCode: .SQLITE_INTERNAL, message: "can't make \(name) under another name", sql: statement)
    }
    try execute("DROP TABLE IF EXISTS \(SQLText.name(draft))")
    try execute("CREATE TABLE \(SQLText.name(draft))" + statement.dropFirst(start.count))
    return draft
  }

  /// Whether a table of that name was created by exactly this statement.
  func isMade(by statement: String, _ name: String) throws -> Bool {
    let start = "CREATE TABLE IF NOT EXISTS "
    guard let present = try PresentTable.statement(of: name, db) else { return false }
    return present == "CREATE TABLE " + statement.dropFirst(start.count)
  }

  func execute(_ sql: String, _ arguments: [DatabaseValue] = []) throws {
    MigrationProbe.onStep?(sql)
    try db.execute(sql: sql, arguments: StatementArguments(arguments))
  }
}

/// A hook for tests to observe or interrupt a migration.
package enum MigrationProbe {
  /// Called before each statement of a migration, on the thread that runs it.
  @TaskLocal package static var onStep: (@Sendable (String) -> Void)?
}
