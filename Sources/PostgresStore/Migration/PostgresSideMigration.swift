// A migration that runs a program's code builds the new version in a PostgreSQL schema of its own, on other connections, while
// the opening transaction keeps the old tables from being written. Then its tables are moved into the store's schema, in that
// transaction. A killed program leaves the schema, which the next one removes.

import Foundation
import ManagedObjects
import PostgreSQL
import SQLSchema

/// Migrates a store by objects or in stages.
struct PostgresSideMigration {
  let migration: PostgresMigration
  let access: PostgresAccess
  let sessions: PostgresSessions
  let timeout: TimeInterval
  let route: MigrationRoute
  let source: PostgresOpening.Opened
  let model: ManagedObjectModel
  let entities: [EntityDescription]

  private var side: PostgresSide { PostgresSide(of: sessions.namespace) }

  /// Builds the new version.
  func run() throws {
    try side.remove(access)
    do {
      switch route.way {
      case .mapping(let mapping): try run(mapping)
      case .stages(let steps): try run(steps)
      case .inferred: return
      }
    } catch {
      // The error is worth more than that of removing what it has left.
      _ = Result { try side.remove(access) }
      throw error
    }
  }

  /// Replaces the old tables by the new ones, in the opening transaction. Other tables stay.
  func takeOver() throws {
    let old = source.schema.columnsByTable.keys.sorted()
    try migration.release(old)
    for table in old { try migration.execute("DROP TABLE IF EXISTS \(SQLText.name(table))", []) }
    try side.moveTables(migration, into: sessions.namespace)
  }

  private func run(_ mapping: MappingModel) throws {
    // The gate is closed, and so it is opened beside it.
    let old = PostgresStore(
      access, sessions, source, entities: route.sourceEntities, options: PostgresStoreOptions(), isReadOnly: true,
      timeout: timeout, report: PersistentStoreDescription.reportToStandardError)
    let store = try open(model, entities)
    // Objects that policies make get higher numbers, so that the others can keep theirs.
    try store.raiseNumbers(above: old.highestNumber())
    let (from, to) = (PersistentStoreCoordinator(model: route.source), PersistentStoreCoordinator(model: model))
    try from.addPersistentStore(PersistentStoreDescription { _, _ in old })
    try to.addPersistentStore(PersistentStoreDescription { _, _ in store })
    let result = Result {
      MigrationProbe.onStep?("convert objects")
      try MigrationManager(mapping, from: from, to: to).run()
    }
    try store.close()
    try old.close()
    try result.get()
  }

  private func run(_ steps: [StagedMigrationManager.Step]) throws {
    try open(route.source, route.sourceEntities).close()
    try copyRows()
    var version = route.source
    for step in steps {
      MigrationProbe.onStep?("stage")
      try StagedMigrationManager.run(step.willMigrate, version) { try open(version, held(version)) }
      var options = MigrationOptions()
      if let mapping = step.mapping { options.mappingModels = [mapping] }
      // Losses of other programs' objects are reported for the store itself, at the end.
      options.migrationWarningHandler = { _ in }
      try open(step.destination, held(step.destination), options).close()
      version = step.destination
      try StagedMigrationManager.run(step.didMigrate, version) { try open(version, held(version)) }
    }
  }

  private func held(_ version: ManagedObjectModel) -> [EntityDescription] { route.held(version, to: model, entities) }

  private func open(
    _ model: ManagedObjectModel, _ entities: [EntityDescription], _ migration: MigrationOptions = .init()
  ) throws -> PostgresStore {
    try PostgresStore(
      access.string, schema: side.name, model: model, entities: entities,
      options: PostgresStoreOptions(durability: .soon, password: access.password), migration: migration,
      newIdentifier: source.identifier, timeout: timeout)
  }

  /// Copies the old rows into the side's tables.
  private func copyRows() throws {
    let pool = PostgresPool(access, limit: 1, timeout: timeout)
    defer { pool.close() }
    try pool.repeating { connection in
      let catalogue = PostgresCatalogue(connection)
      try connection.begin()
      for table in source.schema.columnsByTable.keys.sorted() {
        let columns = try catalogue.columnNames(of: table).map(SQLText.name).joined(separator: ", ")
        if columns.isEmpty { continue }
        let origin = "\(SQLText.name(sessions.namespace)).\(SQLText.name(table))"
        let target = "\(SQLText.name(side.name)).\(SQLText.name(table))"
        try connection.run("INSERT INTO \(target) (\(columns)) SELECT \(columns) FROM \(origin)")
        guard let (sequence, column) = try catalogue.sequence(of: table) else { continue }
        try connection.run(
          "SELECT setval(pg_get_serial_sequence(\(SQLText.literal(target)), \(SQLText.literal(column))), last_value, "
            + "is_called) FROM \(sequence)")
      }
      try connection.run("COMMIT")
    }
  }
}

/// The schema beside a store's in which its next content is built.
struct PostgresSide: Sendable {
  let name: String

  /// - Parameter namespace: the schema of the store.
  init(of namespace: String) {
    // FNV-1a: a name of any length gets a short one.
    let hash = namespace.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    name = "lade_side_" + String(hash, radix: 36)
  }

  /// Removes it with all that is in it.
  func remove(_ access: PostgresAccess) throws {
    let pool = PostgresPool(access, limit: 1, timeout: 30)
    defer { pool.close() }
    try pool.repeating { try remove($0) }
  }

  func remove(_ connection: PostgresConnection) throws {
    try connection.settled { try connection.run("DROP SCHEMA IF EXISTS \(SQLText.name(name)) CASCADE") }
  }

  /// Moves its tables into the store's schema, where none of their names is taken, and what they say of themselves.
  func moveTables(_ migration: PostgresMigration, into namespace: String) throws {
    let tables = try migration.texts(
      "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname <> 'lade_metadata' "
        + "AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = \(SQLText.literal(name))) ORDER BY 1"
    ).compactMap { $0[0] }
    for table in tables {
      try migration.execute(
        "ALTER TABLE \(SQLText.name(name)).\(SQLText.name(table)) SET SCHEMA \(SQLText.name(namespace))", [])
    }
    try migration.execute(
      """
      INSERT INTO \(SQLText.name(namespace)).lade_metadata (key, value)
      SELECT key, value FROM \(SQLText.name(name)).lade_metadata WHERE key <> '\(PostgresSessions.key)'
      ON CONFLICT (key) DO UPDATE SET value = excluded.value
      """, [])
    try migration.execute("DROP SCHEMA \(SQLText.name(name)) CASCADE", [])
  }
}
