// Opening a store is one transaction behind a closed gate, see ``PostgresSessions``: two programs that open it at once do so one
// after the other, and a killed one leaves nothing behind.

import Foundation
import ManagedObjects
import PostgreSQL
import SQLSchema

/// Makes a schema's tables fit the model: creates, migrates or checks them.
struct PostgresOpening {
  let model: ManagedObjectModel
  /// The entities that the store will hold.
  let entities: [EntityDescription]
  /// How the store's server is reached, for a migration by objects.
  let access: PostgresAccess
  let sessions: PostgresSessions
  let migration: MigrationOptions
  let isReadOnly: Bool
  /// The identifier of a new store; nil to make one.
  let newIdentifier: String?
  /// How long to wait for others.
  let timeout: TimeInterval

  private var name: String { sessions.name }
  /// The PostgreSQL schema with the tables.
  private var namespace: String { sessions.namespace }

  struct Opened {
    let identifier: String
    let schema: SchemaMap
    /// How often the store was migrated.
    var migrations = "0"
  }

  /// Brings the schema up to date.
  /// - Throws: ``MigrationError``, ``SchemaError``, ``ManagedObjectError/incompatibleStore(path:reason:)``.
  func open(_ connection: PostgresConnection) throws -> Opened {
    guard try connection.text("SELECT getdatabaseencoding()") == "UTF8" else {
      throw ManagedObjectError.incompatibleStore(
        path: name, reason: "the database's encoding isn't UTF8: create it with ENCODING 'UTF8'")
    }
    try connection.begin()
    try sessions.closeGate(connection)
    // By the catalogue: the session knows its search path of before it waited at the gate, when the schema may not have been there.
    let isThere = try connection.query(
      """
      SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'lade_metadata'
      AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1))
      """,
      [.text(namespace)]
    ).bool(0, 0)
    if !isThere {
      guard !isReadOnly else {
        throw ManagedObjectError.incompatibleStore(
          path: name, reason: "the schema \(namespace) is no store, and is opened for reading only")
      }
      try createSchema(connection)
      try connection.run("CREATE TABLE lade_metadata (key text COLLATE \"C\" PRIMARY KEY, value text NOT NULL)")
    }
    let metadata = PostgresMetadata(connection)
    let identifier = try metadata.text("identifier") ?? newIdentifier ?? UUID().uuidString
    if !isThere {
      try metadata.set("identifier", identifier)
      try metadata.set("format", String(PostgresMetadata.format))
    }
    if let format = try metadata.text("format"), Int(format) ?? .max > PostgresMetadata.format {
      throw ManagedObjectError.incompatibleStore(
        path: name, reason: "a later version of this library has made it (format \(format))")
    }
    if try !isReadOnly && metadata.text(PostgresSessions.key) == nil { try metadata.set(PostgresSessions.key, "0") }
    let kept = try StoredVersion(path: name) { try metadata.text($0) }
    let wanted = Set(entities)
    // Entities that another store will hold from now on stay, and so do their rows.
    let held = model.entities.filter { wanted.contains($0) || kept?.hashes[$0.name] != nil }
    let schema = try SchemaMap(model: model, entities: held, PostgresDialect.self)
    let version = try StoredVersion(model, held)
    var opened = Opened(identifier: identifier, schema: schema)
    if isReadOnly {
      try check(kept, version)
    } else {
      if let kept {
        if kept != version { try migrate(from: kept, held, version, opened, connection) }
      } else {
        try create(schema, connection)
      }
      if kept != version { try version.write { try metadata.set($0, $1) } }
    }
    opened.migrations = try metadata.text(PostgresSessions.key) ?? "0"
    try connection.run("COMMIT")
    return opened
  }

  /// Creates the schema, unless an administrator has made it for a role that may not make any.
  private func createSchema(_ connection: PostgresConnection) throws {
    let isThere = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1), current_database(), current_user"
    let found = try connection.query(isThere, [.text(namespace)])
    guard !found.bool(0, 0) else { return }
    do {
      try connection.run("CREATE SCHEMA \(SQLText.name(namespace))")
    } catch let error as PostgresError where error.state == "42501" {
      let (database, role) = (SQLText.name(found.text(0, 1)), SQLText.name(found.text(0, 2)))
      throw PostgresError(
        state: error.state,
        message: """
          \(error.message). As an administrator, run GRANT CREATE ON DATABASE \(database) TO \(role), or make the schema: \
          CREATE SCHEMA \(SQLText.name(namespace)) AUTHORIZATION \(role)
          """)
    }
  }

  /// Refuses another version than the model's.
  private func check(_ kept: StoredVersion?, _ version: StoredVersion) throws {
    let changed = kept?.hashes.filter { version.hashes[$0.key] != $0.value } ?? [:]
    if let kept, !changed.isEmpty {
      throw MigrationError.incompatibleVersion(
        store: name,
        differences: VersionDifference.between(kept.hashes, version.hashes, from: try kept.model(path: name), to: model)
      )
    }
    guard kept?.hashes == version.hashes else {
      throw ManagedObjectError.incompatibleStore(
        path: name, reason: "it lacks tables of the model, and is opened for reading only: open it once for writing")
    }
  }

  // MARK: Migration

  private func migrate(
    from kept: StoredVersion, _ held: [EntityDescription], _ version: StoredVersion, _ opened: Opened,
    _ connection: PostgresConnection
  ) throws {
    let route = try MigrationRoute(from: kept, to: model, held, migration, store: name)
    let old = try SchemaMap(model: route.source, entities: route.sourceEntities, PostgresDialect.self)
    let tables = PostgresMigration(connection, store: name)
    let isSame = kept.hashes.allSatisfy { version.hashes[$0.key] == $0.value }
    if case .inferred(let mapping) = route.way, isSame, old.isPart(of: opened.schema) {
      // Nothing changes that programs with the earlier version use.
      return try TableMigration(tables, from: old, route.sourceEntities, to: opened.schema, held, mapping).run()
    }
    try sessions.endOthers(connection, timeout: timeout)
    let others = try PostgresOthers(tables, besides: old)
    switch route.way {
    case .inferred(let mapping):
      try lock(old, "ACCESS EXCLUSIVE", connection)
      try others.dropViews()
      let rows = try TableMigration(tables, from: old, route.sourceEntities, to: opened.schema, held, mapping)
      try rows.run()
      try derive(rows.derivedAnew, held, opened, connection)
    case .mapping, .stages:
      // The old rows are read on other connections.
      try lock(old, "SHARE ROW EXCLUSIVE", connection)
      let side = PostgresSideMigration(
        migration: tables, access: access, sessions: sessions, timeout: timeout, route: route,
        source: Opened(identifier: opened.identifier, schema: old), model: model, entities: held)
      try side.run()
      try others.dropViews()
      try side.takeOver()
    }
    let metadata = PostgresMetadata(connection)
    let count = try metadata.text(PostgresSessions.key).flatMap { Int($0) } ?? 0
    try metadata.set(PostgresSessions.key, String(count + 1))
    try migration.accept(others.restore(), store: name)
  }

  private func lock(_ schema: SchemaMap, _ mode: String, _ connection: PostgresConnection) throws {
    let present = Set(try PostgresCatalogue(connection).tables())
    let names = schema.columnsByTable.keys.filter(present.contains).sorted().map(SQLText.name)
    if !names.isEmpty { try connection.run("LOCK TABLE \(names.joined(separator: ", ")) IN \(mode) MODE") }
  }

  private func derive(
    _ attributes: Set<AttributeDescription>, _ held: [EntityDescription], _ opened: Opened,
    _ connection: PostgresConnection
  ) throws {
    guard !attributes.isEmpty else { return }
    let tables = PostgresTables(of: held, schema: opened.schema, identifier: opened.identifier, name: name)
    try MigratedDerivations.run(attributes, PostgresDerived(connection: connection, tables: tables)) { entity in
      try tables.layout(of: entity).scope
    } numbers: { entity in
      let layout = try tables.layout(of: entity)
      var sql = "SELECT \(SQLText.name(layout.keyColumn)) FROM \(SQLText.name(layout.table))"
      if let column = layout.entityColumn { sql += " WHERE \(SQLText.name(column)) = \(SQLText.literal(entity.name))" }
      let rows = try connection.rows(sql)
      return (0..<rows.count).map { rows.int($0, 0) }
    }
  }

  /// Creates the tables of a new store.
  private func create(_ schema: SchemaMap, _ connection: PostgresConnection) throws {
    for statement in schema.createStatements { try connection.run(statement) }
    try PostgresMigration(connection, store: name).checkReferences(of: schema)
  }
}

extension SchemaMap {
  /// Whether another schema has all of the tables of this one, as they are.
  fileprivate func isPart(of other: SchemaMap) -> Bool {
    let statements = Set(other.tables.map(\.createStatement) + other.joinTables.map(\.createStatement))
    return (tables.map(\.createStatement) + joinTables.map(\.createStatement)).allSatisfy(statements.contains)
  }
}

/// What a store says of itself, as rows of `lade_metadata`.
struct PostgresMetadata {
  /// The form of the tables.
  static let format = 1

  private let connection: PostgresConnection

  init(_ connection: PostgresConnection) { self.connection = connection }

  func text(_ key: String) throws -> String? {
    let rows = try connection.query("SELECT value FROM lade_metadata WHERE key = $1", [.text(key)])
    return rows.count > 0 ? rows.text(0, 0) : nil
  }

  func set(_ key: String, _ text: String) throws {
    try connection.query(
      "INSERT INTO lade_metadata (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
      [.text(key), .text(text)])
  }
}
