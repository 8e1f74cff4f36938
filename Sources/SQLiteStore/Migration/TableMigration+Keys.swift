import GRDB
import ManagedObjects

// An attribute that becomes the primary key changes its rows' numbers. References to such a row look up its new number in the
// old table.

extension TableMigration {
  /// The term for the new number of an old entity's rows.
  func keyTerm(from origin: EntityDescription, to entity: EntityDescription) -> SQLTerm {
    if let column = newKeyColumn(from: origin, to: entity) { return .column(column) }
    return SQLTerm.column(old.primaryKeyColumn(of: origin)).plus(numbers.shift(from: origin, to: entity))
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
    numbers.shift(from: source, to: destination) != 0 || !newKeyColumns(of: source.rootEntity).isEmpty
  }

  /// The term for an old row's new number.
  /// - Parameter number: a term for the old number; a column's name with its table's in front.
  func moved(_ number: SQLTerm, from source: EntityDescription, to destination: EntityDescription) -> SQLTerm {
    let columns = newKeyColumns(of: source.rootEntity).map { "lade_key.\(SQLText.name($0))" }
    guard let first = columns.first else { return number.plus(numbers.shift(from: source, to: destination)) }
    let value = columns.count == 1 ? first : "coalesce(\(columns.joined(separator: ", ")))"
    return SQLTerm(
      sql: "(SELECT \(value) FROM \(SQLText.name(old.table(of: source))) AS lade_key WHERE "
        + "lade_key.\(SQLText.name(old.primaryKeyColumn(of: source))) = \(number.sql))",
      arguments: number.arguments)
  }

  /// Updates the history to the rows' new numbers. Removes changes of rows that are gone and have no new number.
  func renumberHistory() throws {
    guard try !PresentTable.columns(of: "lade_history_change", db).isEmpty else { return }
    for (image, origin) in origins where !origin.isAbstract && renumbers(origin, image) {
      guard columns[old.table(of: origin)]?.isEmpty == false else { continue }
      let isOfEntity = "entity = \(SQLText.literal(origin.name))"
      if !newKeyColumns(of: origin.rootEntity).isEmpty {
        try execute(
          "DELETE FROM lade_history_change WHERE \(isOfEntity) AND object NOT IN "
            + "(SELECT \(SQLText.name(old.primaryKeyColumn(of: origin))) FROM \(SQLText.name(old.table(of: origin))))")
      }
      let number = moved(SQLTerm(sql: "lade_history_change.object"), from: origin, to: image)
      try execute("UPDATE lade_history_change SET object = \(number.sql) WHERE \(isOfEntity)")
    }
  }

  /// Checks that the future primary key has a different value in each row.
  /// - Throws: ``MigrationError/notUnique(store:violations:)`` with the first conflicting values.
  func checkKeys(of table: TableMap, _ plans: [RowPlan]) throws {
    guard let key = table.rootEntity.primaryKey, !plans.isEmpty else { return }
    let parts = plans.map { plan in
      "SELECT \(plan.columns[0].term.sql) AS lade_key FROM \(SQLText.name(old.table(of: plan.origin)))"
        + restriction(to: plan.origin)
    }
    let all = parts.joined(separator: " UNION ALL ")
    let arguments = StatementArguments(plans.flatMap(\.columns[0].term.arguments))
    let missing = try Int.fetchOne(
      db, sql: "SELECT count(*) FROM (\(all)) WHERE lade_key IS NULL", arguments: arguments)
    if let missing, missing > 0 {
      throw MigrationError.cannotInfer(obstacles: [
        MigrationObstacle(
          table.rootEntity.name, key.name, problem: "is to number the objects, and \(missing) of them have no value",
          remedy: "give them one first")
      ])
    }
    let clashes = try Row.fetchAll(
      db,
      sql: "SELECT lade_key, count(*) FROM (\(all)) GROUP BY lade_key HAVING count(*) > 1 ORDER BY lade_key LIMIT 5",
      arguments: arguments)
    guard clashes.isEmpty else {
      throw MigrationError.notUnique(
        store: path,
        violations: clashes.map { row in
          UniquenessViolation(
            entity: table.rootEntity.name, constraint: [key.name], values: ["\(row[0] as Int64? ?? 0)"],
            count: row[1] ?? 0)
        })
    }
  }
}
