import GRDB
import ManagedObjects
import SQLSchema

/// What ``TableMigration`` needs of SQLite.
struct SQLiteMigration: MigratingDatabase {
  typealias Dialect = SQLiteDialect

  let db: Database
  let store: String

  func execute(_ sql: String, _ arguments: [DatabaseValue]) throws {
    MigrationProbe.onStep?(sql)
    try db.execute(sql: sql, arguments: StatementArguments(arguments))
  }

  func texts(_ sql: String) throws -> [[String?]] {
    try Row.fetchAll(db, sql: sql).map { row in row.databaseValues.map { $0.storage.value.map { "\($0)" } } }
  }

  func columns(of table: String) throws -> Set<String> { try PresentTable.columns(of: table, db) }

  func parameter(_ value: Value, for attribute: AttributeDescription) -> DatabaseValue {
    ValueCodec.databaseValue(of: value, for: attribute)
  }

  func term(
    _ column: String, in table: String, of former: AttributeDescription, as attribute: AttributeDescription
  ) -> Term {
    let name = SQLText.name(column)
    // Its values may be in files, which are read.
    let content = former.allowsFiles && !attribute.storesFiles ? StoredForms.own.contentTerm(name) : name
    if former.type != attribute.type, attribute.widening(from: former) == .text {
      return Term(
        sql: "\(TextForms.function.name)(\(content), \(SQLText.literal(former.type.rawValue)))", source: column)
    }
    // The stored forms of other types that values are widened to differ by the column's affinity alone.
    guard attribute.type == .date, DateStorage(former) != DateStorage(attribute) else {
      return Term(sql: content, source: column)
    }
    let function = DateStorage(attribute) == .unix ? DateForms.unix.name : DateForms.iso.name
    return Term(sql: "\(function)(\(name))", source: column)
  }

  func way(of table: TableMap, _ plans: [Plan], in migration: TableMigration<Self>) throws -> TableWay {
    try isMade(by: table.createStatement, table.name) && migration.keepsRows(of: table, plans) ? .stays : .rebuilt
  }

  func way(of table: JoinTable, in migration: TableMigration<Self>) throws -> TableWay {
    try isMade(by: table.createStatement, table.name) && migration.keepsPairs(of: table) ? .stays : .rebuilt
  }

  /// Whether a table of that name was created by exactly this statement.
  private func isMade(by statement: String, _ name: String) throws -> Bool {
    let start = "CREATE TABLE IF NOT EXISTS "
    guard let present = try PresentTable.statement(of: name, db) else { return false }
    return present == "CREATE TABLE " + statement.dropFirst(start.count)
  }

  /// Foreign keys aren't checked while tables change.
  func release(_ tables: [String]) {}

  func rename(_ draft: String, to name: String) throws {
    try execute("ALTER TABLE \(SQLText.name(draft)) RENAME TO \(SQLText.name(name))", [])
  }

  func attempting(_ body: () throws -> Void) throws { try body() }

  func isDuplicate(_ error: any Error) -> Bool { (error as? DatabaseError)?.resultCode == .SQLITE_CONSTRAINT }

  func checkReferences(of schema: SchemaMap) throws {
    var broken: [String] = []
    let rows = try Row.fetchCursor(db, sql: "PRAGMA foreign_key_check")
    while broken.count < 5, let row = try rows.next() {
      let (table, number, parent): (String?, Int64?, String?) = (row[0], row[1], row[2])
      broken.append("\(table ?? "?") \(number.map(String.init) ?? "?") to \(parent ?? "?")")
    }
    guard broken.isEmpty else { throw MigrationError.brokenReferences(store: store, references: broken) }
  }

  func lastNumber(of table: String) throws -> Int64? {
    try Int64.fetchOne(
      db, sql: "SELECT value FROM lade_metadata WHERE key = ?", arguments: ["last_number." + table])
  }

  func keep(lastNumbers: [String: Int64], of old: SchemaMap) throws {
    for table in old.tables {
      try db.execute(sql: "DELETE FROM lade_metadata WHERE key = ?", arguments: ["last_number." + table.name])
    }
    for (table, number) in lastNumbers where number > 0 {
      try db.execute(
        sql: "INSERT OR REPLACE INTO lade_metadata (key, value) VALUES (?, ?)",
        arguments: ["last_number." + table, number])
    }
  }
}
