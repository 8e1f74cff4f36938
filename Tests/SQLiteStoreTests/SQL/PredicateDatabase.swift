import Foundation
import GRDB
import ManagedObjects
import SQLSchema
import SQLiteStore
import TestSupport

/// A database in memory with the schema and the rows of ``PredicateFixture``.
struct PredicateDatabase {
  let schema: SchemaMap
  let queue: DatabaseQueue

  init() throws {
    schema = try SchemaMap(model: PredicateFixture.model)
    var configuration = Configuration()
    configuration.foreignKeysEnabled = true
    configuration.prepareDatabase { PredicateFunctions.register(on: $0) }
    queue = try DatabaseQueue(configuration: configuration)
    try queue.write { db in
      for statement in schema.createStatements { try db.execute(sql: statement) }
      for row in PredicateFixture.rows { try insert(row, db) }
      for pair in PredicateFixture.pairs {
        guard let relationship = PredicateFixture.entity(pair.entity).relationshipsByName[pair.relationship] else {
          continue
        }
        let pairing = schema.pairing(of: relationship)
        let columns = [pairing.sourceColumn, pairing.destinationColumn] + (pairing.positionColumn.map { [$0] } ?? [])
        let names = columns.map(SQLText.name).joined(separator: ", ")
        for (place, number) in pair.to.enumerated() {
          let values = [pair.from, number] + (pairing.positionColumn == nil ? [] : [Int64(place) * 1024])
          try db.execute(
            sql:
              "INSERT INTO \(SQLText.name(pairing.table)) (\(names)) VALUES (\(values.map { _ in "?" }.joined(separator: ", ")))",
            arguments: StatementArguments(values))
        }
      }
    }
  }

  private func insert(_ row: PredicateFixture.Row, _ db: Database) throws {
    var columns = [schema.primaryKeyColumn(of: row.entity)]
    var values = [row.id.number.databaseValue]
    if let discriminator = schema.discriminatorColumn(of: row.entity) {
      columns.append(discriminator)
      values.append(row.entity.name.databaseValue)
    }
    for property in row.entity.properties {
      guard let column = schema.columnIfStored(of: property, in: row.entity), column != columns[0],
        let value = row.values[property.name]
      else { continue }
      columns.append(column)
      if case .object(let id) = value {
        values.append(id.number.databaseValue)
      } else if let attribute = property as? AttributeDescription {
        values.append(ValueCodec.databaseValue(of: value, for: attribute))
      }
    }
    let names = columns.map(SQLText.name).joined(separator: ", ")
    let marks = columns.map { _ in "?" }.joined(separator: ", ")
    try db.execute(
      sql: "INSERT INTO \(SQLText.name(schema.table(of: row.entity))) (\(names)) VALUES (\(marks))",
      arguments: StatementArguments(values))
  }

  /// The numbers of the rows that `fetch` finds, in order.
  func numbers(_ fetch: StoreFetch) throws -> [Int64] {
    let query = try SQLCompiler(schema, storeIdentifier: PredicateFixture.storeIdentifier).primaryKeys(fetch)
    return try queue.read { try Int64.fetchAll($0, sql: query.sql, arguments: StatementArguments(query.arguments)) }
  }

  func count(_ fetch: StoreFetch) throws -> Int? {
    let query = try SQLCompiler(schema).count(fetch)
    return try queue.read { try Int.fetchOne($0, sql: query.sql, arguments: StatementArguments(query.arguments)) }
  }

  /// SQLite's plan for `fetch`.
  func plan(_ fetch: StoreFetch) throws -> String {
    let query = try SQLCompiler(schema).primaryKeys(fetch)
    return try queue.read { db in
      try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(query.sql)", arguments: StatementArguments(query.arguments))
        .map { $0["detail"] as String }.joined(separator: "; ")
    }
  }
}
