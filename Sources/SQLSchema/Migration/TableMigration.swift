// Migration by SQL alone: new tables are filled from the old ones, the old ones are dropped, and the new ones take their names, as
// SQLite's "Making Other Kinds Of Table Schema Changes" describes. All of it is part of the transaction that opens the store.
// Crash-safe: a killed process leaves either the old or the new tables. A table that already fits isn't touched, and one that the
// database can change in place is.

package import ManagedObjects

/// Changes a store's tables from one version of a model to another.
package struct TableMigration<Database: MigratingDatabase> {
  package typealias Term = Database.Term
  package typealias Plan = Database.Plan

  let database: Database
  package let old: SchemaMap
  package let new: SchemaMap
  /// The entities of both versions that the store holds.
  let sources: [EntityDescription]
  let destinations: [EntityDescription]
  let mapping: MappingModel
  /// The old entity of each new one.
  package let origins: [EntityDescription: EntityDescription]
  /// The new entity of each old one.
  package let images: [EntityDescription: EntityDescription]
  let numbers: NumberOffsets
  /// The actual columns of the old tables, in lower case.
  package let columns: [String: Set<String>]

  package init(
    _ database: Database, from old: SchemaMap, _ sources: [EntityDescription], to new: SchemaMap,
    _ destinations: [EntityDescription], _ mapping: MappingModel
  ) throws {
    self.database = database
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
    numbers = try NumberOffsets(database, old, new, origins)
    var columns: [String: Set<String>] = [:]
    for table in old.columnsByTable.keys { columns[table] = try database.columns(of: table) }
    self.columns = columns
  }

  /// Runs the migration.
  /// - Throws: ``MigrationError``, or the database's error.
  package func run() throws {
    try checkAbstractEntities()
    try checkExactNumbers()
    try forgetLineage()
    // All that reads the old tables comes first.
    var kept: Set<String> = []
    var renamings: [(from: String, to: String)] = []
    var alterations: [(from: String, to: String, statements: [String])] = []
    func note(_ way: TableWay, of name: String, rebuild: () throws -> String) throws {
      switch way {
      case .stays: kept.insert(name)
      case .altered(let from, let statements):
        kept.insert(from)
        alterations.append((from, name, statements))
      case .rebuilt: renamings.append((try rebuild(), name))
      }
    }
    for table in new.tables {
      let plans = try rowPlans(of: table)
      try note(database.way(of: table, plans, in: self), of: table.name) {
        try checkKeys(of: table, plans)
        let draft = try create(table.createStatement, table.name)
        for plan in plans { try fill(draft, plan) }
        return draft
      }
    }
    for table in new.joinTables {
      try note(database.way(of: table, in: self), of: table.name) {
        let draft = try create(table.createStatement, table.name)
        try fill(draft, table)
        return draft
      }
    }
    try renumberHistory()
    let dropped = old.columnsByTable.keys.sorted().filter { !kept.contains($0) }
    try database.release(dropped)
    for alteration in alterations {
      for statement in alteration.statements { try execute(statement) }
      guard alteration.from != alteration.to else { continue }
      // Its new name may still be another's.
      let draft = draft(of: alteration.to)
      try execute("ALTER TABLE \(SQLText.name(alteration.from)) RENAME TO \(SQLText.name(draft))")
      renamings.append((draft, alteration.to))
    }
    for table in dropped { try execute("DROP TABLE IF EXISTS \(SQLText.name(table))") }
    for (draft, name) in renamings { try database.rename(draft, to: name) }
    try makeIndexes()
    try clearLostReferences()
    try checkRequiredRelationships()
    try database.checkReferences(of: new)
    try database.keep(lastNumbers: numbers.lastNumbers, of: old)
  }

  /// An unused name for a new table, of at most 63 bytes.
  private func draft(of name: String) -> String {
    let place = new.columnsByTable.keys.sorted().firstIndex(of: name) ?? 0
    return "lade_new_\(place)"
  }

  /// Creates a table under an unused name, and returns the name.
  private func create(_ statement: String, _ name: String) throws -> String {
    let draft = draft(of: name)
    let start = "CREATE TABLE IF NOT EXISTS \(SQLText.name(name))"
    precondition(statement.hasPrefix(start), "a table's statement begins with its name")
    try execute("DROP TABLE IF EXISTS \(SQLText.name(draft))")
    try execute("CREATE TABLE \(SQLText.name(draft))" + statement.dropFirst(start.count))
    return draft
  }

  func execute(_ sql: String, _ arguments: [Database.Dialect.Parameter] = []) throws {
    try database.execute(sql, arguments)
  }

  /// The number that a query returns.
  func number(_ sql: String) throws -> Int64 { try database.number(sql) ?? 0 }
}

extension MigratingDatabase {
  /// The number that a query returns; nil for NULL, or no row.
  package func number(_ sql: String) throws -> Int64? {
    try texts(sql).first?.first.flatMap { $0.flatMap { Int64($0) } }
  }
}

extension TableMigration {
  /// Drops indexes that the model no longer has, and makes the others.
  /// - Throws: ``MigrationError/notUnique(store:violations:)`` with some of the conflicting rows.
  func makeIndexes() throws {
    let wanted = Set(new.indexes.map(\.createStatement))
    for index in old.indexes where !wanted.contains(index.createStatement) {
      try execute("DROP INDEX IF EXISTS \(SQLText.name(index.name))")
    }
    do {
      try database.attempting { for statement in new.createStatements { try execute(statement) } }
    } catch  where database.isDuplicate(error) {
      let violations = try new.indexes.filter(\.isUnique).flatMap { try self.violations(of: $0) }
      guard !violations.isEmpty else { throw error }
      throw MigrationError.notUnique(store: database.store, violations: violations)
    }
  }

  /// Up to five groups of rows with the same values in a unique index.
  private func violations(of index: IndexMap) throws -> [UniquenessViolation] {
    let names = index.columns.map { SQLText.name($0.name) }
    let conditions = names.map { "\($0) IS NOT NULL" } + (index.condition.map { ["(\($0))"] } ?? [])
    let list = names.joined(separator: ", ")
    let rows = try database.texts(
      "SELECT \(list), count(*) FROM \(SQLText.name(index.table)) WHERE \(conditions.joined(separator: " AND ")) "
        + "GROUP BY \(list) HAVING count(*) > 1 LIMIT 5")
    return rows.map { row in
      UniquenessViolation(
        entity: index.table, constraint: index.columns.map(\.name), values: row.dropLast().map { $0 ?? "nil" },
        count: row.last.flatMap { $0.flatMap { Int($0) } } ?? 0)
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
              + "WHERE \(isLost(table.name, column, relationship.destinationEntity))")
        }
      }
    }
    for table in new.joinTables {
      let ends = [
        (table.sourceColumn, table.relationship.entity),
        (table.destinationColumn, table.relationship.destinationEntity),
      ]
      let conditions = ends.filter { new.holds($0.1) }.map { isLost(table.name, $0.0, $0.1) }
      try execute("DELETE FROM \(SQLText.name(table.name)) WHERE \(conditions.joined(separator: " OR "))")
    }
  }

  private func isLost(_ table: String, _ column: String, _ destination: EntityDescription) -> String {
    let name = "\(SQLText.name(table)).\(SQLText.name(column))"
    return
      "(\(name) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(SQLText.name(new.table(of: destination))) AS lade_target "
      + "WHERE lade_target.\(SQLText.name(new.primaryKeyColumn(of: destination))) = \(name)))"
  }

  /// Checks that an entity that is now abstract has no rows.
  func checkAbstractEntities() throws {
    var obstacles: [MigrationObstacle] = []
    for (image, origin) in origins where image.isAbstract && !origin.isAbstract {
      let count = try count(old, origin, Database.Dialect.everything)
      if count > 0 {
        obstacles.append(
          MigrationObstacle(
            image.name, problem: "is abstract now, and has \(count) rows",
            remedy: "delete them first, or write an entity migration policy that makes others of them"))
      }
    }
    guard obstacles.isEmpty else { throw MigrationError.cannotInfer(obstacles: obstacles) }
  }

  /// Checks that whole numbers that are floating-point numbers now are exact.
  func checkExactNumbers() throws {
    var obstacles: [MigrationObstacle] = []
    for entity in destinations where !entity.isAbstract {
      guard let origin = origins[entity], let mapping = mapping[destination: entity.name] else { continue }
      for attribute in entity.attributes {
        guard let name = mapping.attributeMappings.first(where: { $0.name == attribute.name })?.sourceName,
          let former = origin.attributesByName[name], case .exact(let range)? = attribute.widening(from: former),
          let column = old.columnIfStored(of: former, in: origin),
          columns[old.table(of: origin)]?.contains(column.lowercased()) == true
        else { continue }
        let count = try count(
          old, origin, "\(SQLText.name(column)) NOT BETWEEN \(range.lowerBound) AND \(range.upperBound)")
        guard count > 0 else { continue }
        obstacles.append(
          .inexact(
            attribute, of: entity, from: former,
            problem: "\(count) row\(count == 1 ? " has a number that isn't" : "s have numbers that aren't") exact in it"
          ))
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
    guard try !database.columns(of: table).isEmpty else { return 0 }
    var sql = "SELECT count(*) FROM \(SQLText.name(table)) WHERE \(condition)"
    if let discriminator = schema.discriminatorColumn(of: entity) {
      sql += " AND \(SQLText.name(discriminator)) = \(SQLText.literal(entity.name))"
    }
    return Int(try number(sql))
  }
}

// An attribute that becomes the primary key changes its rows' numbers. References to such a row look up its new number in the
// old table.

extension TableMigration {
  /// The term for the new number of an old entity's rows.
  func keyTerm(from origin: EntityDescription, to entity: EntityDescription) -> Term {
    if let column = newKeyColumn(from: origin, to: entity) { return .column(column) }
    return Term.column(old.primaryKeyColumn(of: origin)).plus(numbers.offset(from: origin, to: entity))
  }

  /// The old column of the attribute that numbers the rows from now on; nil for those that keep their numbers.
  private func newKeyColumn(from origin: EntityDescription, to entity: EntityDescription) -> String? {
    guard let key = entity.primaryKey,
      let name = mapping[destination: entity.name]?.attributeMappings.first(where: { $0.name == key.name })?.sourceName,
      let former = origin.attributesByName[name], former !== origin.primaryKey
    else { return nil }
    return old.columnIfStored(of: former, in: origin)
  }

  /// The old columns that number the rows of an old hierarchy from now on; none when they keep their numbers.
  private func newKeyColumns(of root: EntityDescription) -> [String] {
    var columns: [String] = []
    for entity in root.selfAndDescendants {
      guard let image = images[entity], let column = newKeyColumn(from: entity, to: image) else { continue }
      if !columns.contains(column) { columns.append(column) }
    }
    return columns
  }

  /// Whether the rows of an old entity's hierarchy change their numbers in a new entity.
  func renumbers(_ source: EntityDescription, _ destination: EntityDescription) -> Bool {
    numbers.offset(from: source, to: destination) != 0 || !newKeyColumns(of: source.rootEntity).isEmpty
  }

  /// The term for an old row's new number.
  /// - Parameter number: a term for the old number; a column's name with its table's in front.
  func moved(_ number: Term, from source: EntityDescription, to destination: EntityDescription) -> Term {
    let columns = newKeyColumns(of: source.rootEntity).map { "lade_key.\(SQLText.name($0))" }
    guard let first = columns.first else { return number.plus(numbers.offset(from: source, to: destination)) }
    let value = columns.count == 1 ? first : "coalesce(\(columns.joined(separator: ", ")))"
    return Term(
      sql: "(SELECT \(value) FROM \(SQLText.name(old.table(of: source))) AS lade_key WHERE "
        + "lade_key.\(SQLText.name(old.primaryKeyColumn(of: source))) = \(number.sql))",
      arguments: number.arguments)
  }

  /// Updates the history to the rows' new numbers. Removes changes of rows that are gone and have no new number.
  func renumberHistory() throws {
    guard try !database.columns(of: "lade_history_change").isEmpty else { return }
    for (image, origin) in origins where !origin.isAbstract && renumbers(origin, image) {
      guard columns[old.table(of: origin)]?.isEmpty == false else { continue }
      let isOfEntity = "entity = \(SQLText.literal(origin.name))"
      if !newKeyColumns(of: origin.rootEntity).isEmpty {
        try execute(
          "DELETE FROM lade_history_change WHERE \(isOfEntity) AND object NOT IN "
            + "(SELECT \(SQLText.name(old.primaryKeyColumn(of: origin))) FROM \(SQLText.name(old.table(of: origin))))")
      }
      let number = moved(Term(sql: "lade_history_change.object"), from: origin, to: image)
      try execute("UPDATE lade_history_change SET object = \(number.sql) WHERE \(isOfEntity)")
    }
  }

  /// Forgets what jobs have recorded of rows whose numbers change: an undo would find other rows under the old ones. Former values
  /// may refer to such rows, so none are kept. The jobs lack something from then on, and are undone by force only.
  private func forgetLineage() throws {
    guard try !database.columns(of: "_lade_lineage").isEmpty else { return }
    let names = origins.filter { image, origin in
      !origin.isAbstract && columns[old.table(of: origin)]?.isEmpty == false && renumbers(origin, image)
    }.map { SQLText.literal($0.value.name) }
    if names.isEmpty { return }
    let isOfThese = "entity IN (\(names.sorted().joined(separator: ", ")))"
    try execute(
      "UPDATE _lade_job SET \"before\" = \"before\" + 1 WHERE member = '' AND job IN "
        + "(SELECT job FROM _lade_lineage WHERE \(isOfThese))")
    try execute("DELETE FROM _lade_lineage WHERE \(isOfThese)")
    try execute("DELETE FROM _lade_before")
  }

  /// Checks that the future primary key has a different value in each row.
  /// - Throws: ``MigrationError/notUnique(store:violations:)`` with the first conflicting values.
  func checkKeys(of table: TableMap, _ plans: [Plan]) throws {
    guard let key = table.rootEntity.primaryKey, !plans.isEmpty else { return }
    let parts = plans.map { plan in
      "SELECT \(plan.columns[0].term.sql) AS lade_key FROM \(SQLText.name(old.table(of: plan.origin)))"
        + restriction(to: plan.origin)
    }
    let all = parts.joined(separator: " UNION ALL ")
    // A number's term has no parameters.
    let missing = try number("SELECT count(*) FROM (\(all)) AS lade_keys WHERE lade_key IS NULL")
    if missing > 0 {
      throw MigrationError.cannotInfer(obstacles: [
        MigrationObstacle(
          table.rootEntity.name, key.name, problem: "is to number the objects, and \(missing) of them have no value",
          remedy: "give them one first")
      ])
    }
    let clashes = try database.texts(
      "SELECT lade_key, count(*) FROM (\(all)) AS lade_keys GROUP BY lade_key HAVING count(*) > 1 ORDER BY lade_key LIMIT 5"
    )
    guard clashes.isEmpty else {
      throw MigrationError.notUnique(
        store: database.store,
        violations: clashes.map { row in
          UniquenessViolation(
            entity: table.rootEntity.name, constraint: [key.name], values: [row[0] ?? "nil"],
            count: row[1].flatMap { Int($0) } ?? 0)
        })
    }
  }
}
