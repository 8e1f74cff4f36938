// Opening a store is one transaction under a lock of the schema's own: two programs that open it at once do so one after the
// other, and a killed one leaves nothing behind.

import Foundation
import ManagedObjects
import PostgreSQL
import SQLSchema

/// Makes a schema's tables fit the model: creates or checks them.
struct PostgresOpening {
  let model: ManagedObjectModel
  /// The entities that the store will hold.
  let entities: [EntityDescription]
  let name: String
  /// The PostgreSQL schema with the tables.
  let namespace: String
  let isReadOnly: Bool
  /// The identifier of a new store; nil to make one.
  let newIdentifier: String?

  struct Opened {
    let identifier: String
    let schema: SchemaMap
  }

  /// Brings the schema up to date.
  /// - Throws: ``MigrationError``, ``SchemaError``, ``ManagedObjectError/incompatibleStore(path:reason:)``.
  func open(_ connection: PostgresConnection) throws -> Opened {
    guard try connection.text("SELECT getdatabaseencoding()") == "UTF8" else {
      throw ManagedObjectError.incompatibleStore(
        path: name, reason: "the database's encoding isn't UTF8: create it with ENCODING 'UTF8'")
    }
    // Two programs that create the schema at once would meet in PostgreSQL's catalogue.
    try connection.run("BEGIN")
    try connection.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [.text("lade " + namespace)])
    let isThere = try connection.query("SELECT to_regclass('lade_metadata') IS NOT NULL").bool(0, 0)
    if !isThere {
      guard !isReadOnly else {
        throw ManagedObjectError.incompatibleStore(
          path: name, reason: "the schema \(namespace) is no store, and is opened for reading only")
      }
      try connection.run(
        """
        CREATE SCHEMA IF NOT EXISTS \(SQLText.name(namespace));
        CREATE TABLE lade_metadata (key text COLLATE "C" PRIMARY KEY, value text NOT NULL)
        """)
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
    let kept = try StoredVersion(path: name) { try metadata.text($0) }
    let wanted = Set(entities)
    // Entities that another store will hold from now on stay, and so do their rows.
    let held = model.entities.filter { wanted.contains($0) || kept?.hashes[$0.name] != nil }
    let schema = try SchemaMap(model: model, entities: held, PostgresDialect.self)
    let version = try StoredVersion(model, held)
    if let kept {
      let changed = kept.hashes.filter { version.hashes[$0.key] != $0.value }
      guard changed.isEmpty else {
        throw MigrationError.incompatibleVersion(
          store: name,
          differences: VersionDifference.between(
            kept.hashes, version.hashes, from: try kept.model(path: name), to: model))
      }
    }
    if kept?.hashes != version.hashes {
      guard !isReadOnly else {
        throw ManagedObjectError.incompatibleStore(
          path: name, reason: "it lacks tables of the model, and is opened for reading only: open it once for writing")
      }
      try create(schema, connection)
    }
    if kept != version, !isReadOnly { try version.write { try metadata.set($0, $1) } }
    try connection.run("COMMIT")
    return Opened(identifier: identifier, schema: schema)
  }

  /// Creates what doesn't exist yet.
  private func create(_ schema: SchemaMap, _ connection: PostgresConnection) throws {
    let present = try connection.query(
      "SELECT relname::text FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)",
      [.text(namespace)])
    let names = Set((0..<present.count).map { present.text($0, 0) })
    for statement in schema.createStatements { try connection.run(statement) }
    for key in schema.foreignKeys where !names.contains(key.table) {
      try connection.run(
        "ALTER TABLE \(SQLText.name(key.table)) ADD FOREIGN KEY (\(SQLText.name(key.column))) "
          + ForeignKey.clause(to: key.target, key.targetColumn))
    }
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
