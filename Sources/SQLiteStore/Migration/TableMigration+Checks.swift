import GRDB
import ManagedObjects

extension TableMigration {
  /// Drops indexes that the model no longer has, and makes the others.
  /// - Throws: ``MigrationError/notUnique(store:violations:)`` with some of the conflicting rows.
  func makeIndexes() throws {
    let wanted = Set(new.indexes.map(\.createStatement))
    for index in old.indexes where !wanted.contains(index.createStatement) {
      try execute("DROP INDEX IF EXISTS \(SQLText.name(index.name))")
    }
    do {
      for statement in new.createStatements { try execute(statement) }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
      let violations = try new.indexes.filter(\.isUnique).flatMap { try self.violations(of: $0) }
      guard !violations.isEmpty else { throw error }
      throw MigrationError.notUnique(store: path, violations: violations)
    }
  }

  /// Up to five groups of rows with the same values in a unique index.
  private func violations(of index: IndexMap) throws -> [UniquenessViolation] {
    let names = index.columns.map { SQLText.name($0.name) }
    let conditions = names.map { "\($0) IS NOT NULL" } + (index.condition.map { ["(\($0))"] } ?? [])
    let list = names.joined(separator: ", ")
    let rows = try Row.fetchAll(
      db,
      sql: "SELECT \(list), count(*) FROM \(SQLText.name(index.table)) WHERE \(conditions.joined(separator: " AND ")) "
        + "GROUP BY \(list) HAVING count(*) > 1 LIMIT 5")
    return rows.map { row in
      let values = Array(row.databaseValues)
      return UniquenessViolation(
        entity: index.table, constraint: index.columns.map(\.name),
        values: values.dropLast().map { $0.storage.value.map { "\($0)" } ?? "nil" },
        count: Int.fromDatabaseValue(values[values.count - 1]) ?? 0)
    }
  }

  /// Clears references to rows of entities that are gone.
  func clearLostReferences() throws {
    guard sources.contains(where: { !$0.isAbstract && images[$0] == nil }) else { return }
    for table in new.tables {
      var seen: Set<String> = []
      for entity in table.rootEntity.selfAndDescendants {
        for relationship in entity.relationships where new.holds(relationship.destinationEntity) {
          guard let column = new.columnIfStored(of: relationship, in: entity), seen.insert(column).inserted else {
            continue
          }
          try execute(
            "UPDATE \(SQLText.name(table.name)) SET \(SQLText.name(column)) = NULL "
              + "WHERE \(isLost(column, relationship.destinationEntity))")
        }
      }
    }
    for table in new.joinTables {
      let ends = [
        (table.sourceColumn, table.relationship.entity),
        (table.destinationColumn, table.relationship.destinationEntity),
      ]
      let conditions = ends.filter { new.holds($0.1) }.map { isLost($0.0, $0.1) }
      try execute("DELETE FROM \(SQLText.name(table.name)) WHERE \(conditions.joined(separator: " OR "))")
    }
  }

  private func isLost(_ column: String, _ destination: EntityDescription) -> String {
    let (name, key) = (SQLText.name(column), SQLText.name(new.primaryKeyColumn(of: destination)))
    return "(\(name) IS NOT NULL AND \(name) NOT IN (SELECT \(key) FROM \(SQLText.name(new.table(of: destination)))))"
  }

  /// Checks that an entity that is now abstract has no rows.
  func checkAbstractEntities() throws {
    var obstacles: [MigrationObstacle] = []
    for (image, origin) in origins where image.isAbstract && !origin.isAbstract {
      let count = try count(old, origin, "1")
      if count > 0 {
        obstacles.append(
          MigrationObstacle(
            image.name, problem: "is abstract now, and has \(count) rows",
            remedy: "delete them first, or write an entity migration policy that makes others of them"))
      }
    }
    guard obstacles.isEmpty else { throw MigrationError.cannotInfer(obstacles: obstacles) }
  }

  /// Checks that a relationship that is now required has an object in every row.
  func checkRequiredRelationships() throws {
    var obstacles: [MigrationObstacle] = []
    for entity in destinations where !entity.isAbstract {
      for relationship in entity.relationships where !relationship.isOptional && origins[entity] != nil {
        guard let column = new.columnIfStored(of: relationship, in: entity),
          origin(of: relationship, in: entity).map({ $0.isOptional || $0.isToMany }) ?? true
        else { continue }
        let count = try count(new, entity, "\(SQLText.name(column)) IS NULL")
        if count > 0 {
          obstacles.append(
            MigrationObstacle(
              entity.name, relationship.name, problem: "is required, and \(count) rows have no object there",
              remedy: "leave it optional, or give them one first"))
        }
      }
    }
    guard obstacles.isEmpty else { throw MigrationError.cannotInfer(obstacles: obstacles) }
  }

  private func count(_ schema: SchemaMap, _ entity: EntityDescription, _ condition: String) throws -> Int {
    let table = schema.table(of: entity)
    guard try !PresentTable.columns(of: table, db).isEmpty else { return 0 }
    var sql = "SELECT count(*) FROM \(SQLText.name(table)) WHERE \(condition)"
    if let discriminator = schema.discriminatorColumn(of: entity) {
      sql += " AND \(SQLText.name(discriminator)) = \(SQLText.literal(entity.name))"
    }
    return try Int.fetchOne(db, sql: sql) ?? 0
  }

  /// Checks all foreign keys, which aren't checked while tables change.
  func checkReferences() throws {
    var broken: [String] = []
    let rows = try Row.fetchCursor(db, sql: "PRAGMA foreign_key_check")
    while broken.count < 5, let row = try rows.next() {
      let (table, number, parent): (String?, Int64?, String?) = (row[0], row[1], row[2])
      broken.append("\(table ?? "?") \(number.map(String.init) ?? "?") to \(parent ?? "?")")
    }
    guard broken.isEmpty else { throw MigrationError.brokenReferences(store: path, references: broken) }
  }
}
