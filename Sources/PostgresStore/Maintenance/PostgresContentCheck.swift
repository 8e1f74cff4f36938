import ManagedObjects
import PostgreSQL
import SQLSchema

/// Looks for damage in one state of a store. Belongs to the thread that checks.
struct PostgresContentCheck {
  /// The greatest number of problems of one kind that are looked for.
  private static let limit = 10_000

  private let connection: PostgresConnection
  private let tables: PostgresTables
  private let watch: MaintenanceWatch
  private let found: (StoreProblem) throws -> Void
  private let catalogue: PostgresCatalogue

  init(
    _ connection: PostgresConnection, _ tables: PostgresTables, _ watch: MaintenanceWatch,
    _ found: @escaping (StoreProblem) throws -> Void
  ) {
    self.connection = connection
    self.tables = tables
    self.watch = watch
    self.found = found
    catalogue = PostgresCatalogue(connection)
  }

  /// What the store says of itself.
  func metadata() throws {
    try begin("metadata")
    let metadata = PostgresMetadata(connection)
    let identifier = try metadata.text("identifier")
    if identifier != tables.identifier {
      try note("its identifier is \(identifier ?? "missing"), and was \(tables.identifier) when it was opened")
    }
    do {
      if try StoredVersion(path: tables.name, text: { try metadata.text($0) })?.model(path: tables.name) == nil {
        try note("it doesn't say which model made it")
      }
    } catch let error as MigrationError {
      try note("\(error)")
    }
    for table in tables.schema.tables { try discriminators(table) }
  }

  private func note(_ message: String) throws { try found(StoreProblem(.metadata, message: message)) }

  private func begin(_ phase: String, _ items: Int = 0) throws {
    try watch.check()
    watch.report(MaintenanceProgress(items: Int64(items), phase: phase))
  }

  /// Rows of entities that don't belong into the table.
  private func discriminators(_ table: TableMap) throws {
    guard let column = table.discriminatorColumn, try catalogue.columns(of: table.name).contains(column.lowercased())
    else { return }
    let names = table.rootEntity.selfAndDescendants.map { SQLText.literal($0.name) }.joined(separator: ", ")
    let rows = try catalogue.texts(
      "SELECT \(SQLText.name(table.primaryKeyColumn)), \(SQLText.name(column)) FROM \(SQLText.name(table.name)) "
        + "WHERE \(SQLText.name(column)) NOT IN (\(names)) LIMIT \(Self.limit)")
    for row in rows {
      try found(
        StoreProblem(
          .metadata, entity: table.name, number: row[0].flatMap { Int64($0) }, property: column,
          message: "\(row[1] ?? "NULL") is no entity of the table"))
    }
  }

  /// Tables, columns and indexes.
  func schema() throws {
    try begin("schema")
    for (table, columns) in tables.schema.columnsByTable.sorted(by: { $0.key < $1.key }) {
      let present = try catalogue.columns(of: table)
      guard !present.isEmpty else {
        try found(StoreProblem(.schema, entity: table, message: "the table doesn't exist"))
        continue
      }
      for column in columns where !present.contains(column.lowercased()) {
        try found(StoreProblem(.schema, entity: table, property: column, message: "the column doesn't exist"))
      }
    }
    let indexes = try catalogue.indexes()
    for index in tables.schema.indexes where !indexes.contains(where: { $0.name == index.name }) {
      try found(
        StoreProblem(.schema, entity: index.table, message: "the index \(index.name) doesn't exist: reindex makes it"))
    }
    for index in indexes where !index.isValid {
      try found(
        StoreProblem(
          .damage, entity: index.table, message: "the index \(index.name) isn't complete: reindex makes it again"))
    }
  }

  /// Foreign keys. The server keeps them: a quick check looks at those alone that it doesn't.
  func references(_ depth: CheckDepth) throws {
    let present = try catalogue.foreignKeys()
    let relations = try catalogue.relations()
    for (number, key) in tables.schema.foreignKeys.enumerated() {
      guard relations.contains(key.table), relations.contains(key.target) else { continue }
      try begin("references", number)
      let isKept = present.contains { $0.table == key.table && $0.column == key.column && $0.target == key.target }
      if !isKept {
        try found(
          StoreProblem(
            .schema, entity: key.table, property: key.column,
            message: "its foreign key to \(key.target) doesn't exist"))
      }
      if isKept && depth == .quick { continue }
      try lost(key)
    }
  }

  private func lost(_ key: ForeignKey) throws {
    let number =
      tables.schema.tables.first { $0.name == key.table }.map { "o.\(SQLText.name($0.primaryKeyColumn))" } ?? "NULL"
    let column = "o.\(SQLText.name(key.column))"
    let rows = try catalogue.texts(
      "SELECT \(number) FROM \(SQLText.name(key.table)) AS o WHERE \(column) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "
        + "\(SQLText.name(key.target)) AS t WHERE t.\(SQLText.name(key.targetColumn)) = \(column)) LIMIT \(Self.limit)")
    for row in rows {
      try found(
        StoreProblem(
          .reference, entity: key.table, number: row[0].flatMap { Int64($0) }, property: key.column,
          message: "refers to a row of \(key.target) that doesn't exist"))
    }
  }

  /// Compares indexes with their rows, by PostgreSQL's amcheck where that is installed and allowed.
  func indexes() throws {
    let schema =
      "SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace AS n ON n.oid = extnamespace "
      + "WHERE extname = 'amcheck'"
    guard let place = try connection.text(schema) else { return }
    for (number, index) in try catalogue.indexes().enumerated() where index.isValid && index.isTree {
      try begin("indexes", number)
      try connection.begin(part: "lade_check")
      do {
        let name = SQLText.literal(SQLText.name(index.name))
        try connection.run("SELECT \(place).bt_index_check(\(name)::regclass, true)")
        try connection.end(part: "lade_check")
      } catch let error as PostgresError where ["XX001", "XX002"].contains(error.state) {
        try connection.rollBack(part: "lade_check")
        try found(
          StoreProblem(.damage, entity: index.table, message: "the index \(index.name) is damaged: \(error.message)"))
      } catch let error as PostgresError where error.state == "42501" {
        // Not for this role.
        return try connection.rollBack(part: "lade_check")
      }
    }
  }
}
