import ManagedObjects
import PostgreSQL
import SQLSchema

/// What ``TableMigration`` needs of PostgreSQL.
struct PostgresMigration: MigratingDatabase {
  typealias Dialect = PostgresDialect

  let connection: PostgresConnection
  let store: String
  private var catalogue: PostgresCatalogue { PostgresCatalogue(connection) }

  init(_ connection: PostgresConnection, store: String) {
    self.connection = connection
    self.store = store
  }

  func execute(_ sql: String, _ arguments: [PostgresValue]) throws {
    MigrationProbe.onStep?(sql)
    guard !arguments.isEmpty else { return try connection.run(sql) }
    let statement = PostgresStatement(sql, arguments)
    try connection.query(statement.sql, statement.parameters)
  }

  func texts(_ sql: String) throws -> [[String?]] { try catalogue.texts(sql) }

  func columns(of table: String) throws -> Set<String> { try catalogue.columns(of: table) }

  func parameter(_ value: Value, for attribute: AttributeDescription) throws -> PostgresValue {
    try PostgresColumnKind(attribute)?.value(of: value) { $0.number } ?? .null(.text)
  }

  // MARK: Values

  func term(
    _ column: String, in table: String, of former: AttributeDescription, as attribute: AttributeDescription
  ) throws -> Term {
    let name = SQLText.name(column)
    guard let from = PostgresColumnKind(former), let to = PostgresColumnKind(attribute),
      former.type != attribute.type
    else { return .column(column) }
    if attribute.widening(from: former) == .text { return try text(column, in: table, of: former) }
    if from.declaration == to.declaration { return .column(column) }
    // A Boolean isn't a number, but becomes one.
    let number = former.type == .boolean ? "CAST(\(name) AS integer)" : name
    return Term(sql: "CAST(\(number) AS \(to.declaration))", source: column)
  }

  private func text(_ column: String, in table: String, of former: AttributeDescription) throws -> Term {
    let name = SQLText.name(column)
    func term(_ sql: String) -> Term { Term(sql: sql + " COLLATE \"C\"", source: column) }
    switch former.type {
    case .boolean, .integer16, .integer32, .integer64, .uuid: return term("CAST(\(name) AS text)")
    case .decimal: return term("CAST(trim_scale(\(name)) AS text)")
    case .transformable: return term("convert_from(\(name), 'UTF8')")
    case .binaryData: return term("translate(encode(\(name), 'base64'), E'\\n', '')")
    case .double, .float, .date:
      // Their texts are this library's, and not the server's.
      let texts = try texts(of: former, column, in: table)
      return Term(
        sql: "(SELECT lade_text.content FROM \(texts) AS lade_text "
          + "WHERE lade_text.value = \(SQLText.name(table)).\(name))")
    case .string, .uri, .objectID, .composite, .undefined: return .column(column)
    }
  }

  /// Makes a table of a column's values and their texts, which lives until the transaction ends.
  private func texts(of attribute: AttributeDescription, _ column: String, in table: String) throws -> String {
    guard let kind = PostgresColumnKind(attribute) else { return "" }
    let count = try connection.text("SELECT count(*) FROM pg_class WHERE relnamespace = pg_my_temp_schema()") ?? "0"
    let name = "lade_texts_\(count)"
    try execute("CREATE TEMPORARY TABLE \(name) (value \(kind.declaration), content text) ON COMMIT DROP", [])
    let values =
      "SELECT DISTINCT \(SQLText.name(column)) FROM \(SQLText.name(table)) WHERE \(SQLText.name(column)) IS NOT NULL"
    try connection.run("DECLARE lade_values NO SCROLL CURSOR FOR \(values)")
    while true {
      let rows = try connection.rows("FETCH 1000 FROM lade_values")
      if rows.count == 0 { break }
      let found = (0..<rows.count).map { kind.value(rows, $0, 0) }
      try connection.query(
        "INSERT INTO \(name) SELECT * FROM unnest($1, $2)",
        [
          .array(kind.type, found.map { try kind.value(of: $0) { $0.number } }),
          .array(.text, found.map { .text(attribute.text(of: $0)) }),
        ])
    }
    try connection.run("CLOSE lade_values; CREATE INDEX ON \(name) (value); ANALYZE \(name)")
    return name
  }

  // MARK: Tables

  func way(of table: JoinTable, in migration: TableMigration<Self>) -> TableWay {
    let isSame = migration.old.joinTables.contains { $0.createStatement == table.createStatement }
    let present = migration.columns[table.name] ?? []
    let columns = [table.sourceColumn, table.destinationColumn] + table.positionColumns
    return isSame && columns.allSatisfy { present.contains($0.lowercased()) } && migration.keepsPairs(of: table)
      ? .stays : .rebuilt
  }

  func way(of table: TableMap, _ plans: [Plan], in migration: TableMigration<Self>) -> TableWay {
    PostgresAlteration(of: table, plans, in: migration)?.way ?? .rebuilt
  }

  func release(_ tables: [String]) throws {
    for table in tables {
      for (owner, constraint) in try catalogue.foreignKeys(touching: table) {
        try execute("ALTER TABLE \(owner) DROP CONSTRAINT \(SQLText.name(constraint))", [])
      }
    }
  }

  func rename(_ draft: String, to name: String) throws {
    try execute("ALTER TABLE \(SQLText.name(draft)) RENAME TO \(SQLText.name(name))", [])
    // As PostgreSQL would have named them.
    for constraint in try catalogue.primaryKey(of: name) {
      guard let wanted = try catalogue.free(name, "_pkey") else { continue }
      try execute(
        "ALTER TABLE \(SQLText.name(name)) RENAME CONSTRAINT \(SQLText.name(constraint)) "
          + "TO \(SQLText.name(wanted))", [])
    }
    guard let (sequence, column) = try catalogue.sequence(of: name),
      let wanted = try catalogue.free(name, "_\(column)_seq")
    else { return }
    try execute("ALTER SEQUENCE \(sequence) RENAME TO \(SQLText.name(wanted))", [])
  }

  func attempting(_ body: () throws -> Void) throws {
    try connection.begin(part: "lade_attempt")
    do {
      try body()
      try connection.end(part: "lade_attempt")
    } catch {
      if connection.isOpen { try connection.rollBack(part: "lade_attempt") }
      throw error
    }
  }

  func isDuplicate(_ error: any Error) -> Bool { (error as? PostgresError)?.state == "23505" }

  // MARK: References

  func checkReferences(of schema: SchemaMap) throws {
    let present = try catalogue.foreignKeys()
    let columns = schema.columnsByTable
    for key in present where columns[key.table]?.contains(key.column) == true {
      let isWanted = schema.foreignKeys.contains {
        $0.table == key.table && $0.column == key.column && $0.target == key.target
      }
      guard !isWanted else { continue }
      try execute("ALTER TABLE \(SQLText.name(key.table)) DROP CONSTRAINT \(SQLText.name(key.name))", [])
    }
    for key in schema.foreignKeys {
      let isThere = present.contains { $0.table == key.table && $0.column == key.column && $0.target == key.target }
      guard !isThere else { continue }
      do {
        try execute(
          "ALTER TABLE \(SQLText.name(key.table)) ADD FOREIGN KEY (\(SQLText.name(key.column))) "
            + ForeignKey.clause(to: key.target, key.targetColumn), [])
      } catch let error as PostgresError where error.state == "23503" {
        throw MigrationError.brokenReferences(
          store: store, references: ["\(key.table).\(key.column): \(error.detail ?? error.message)"])
      }
    }
  }

  // MARK: Numbers

  func lastNumber(of table: String) throws -> Int64? {
    guard let (sequence, _) = try catalogue.sequence(of: table) else { return nil }
    return try number("SELECT CASE WHEN is_called THEN last_value END FROM \(sequence)")
  }

  func keep(lastNumbers: [String: Int64], of old: SchemaMap) throws {
    for (table, number) in lastNumbers where number > 0 {
      guard let (sequence, _) = try catalogue.sequence(of: table), try number > lastNumber(of: table) ?? 0 else {
        continue
      }
      try execute("SELECT setval(\(SQLText.literal(sequence)), \(number))", [])
    }
  }
}
