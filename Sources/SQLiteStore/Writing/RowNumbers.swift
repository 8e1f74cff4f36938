import GRDB
import ManagedObjects
import SQLSchema

extension SQLiteStore: NumberKeeping {
  package func highestNumber() throws -> Int64 {
    try translating { try writer.read { try Self.highestNumber(in: schema, $0) } }
  }

  /// The highest number that any row of the tables has or had.
  static func highestNumber(in schema: SchemaMap, _ db: Database) throws -> Int64 {
    var last: Int64 = 0
    for table in schema.tables {
      let given = try Int64.fetchOne(
        db, sql: "SELECT value FROM lade_metadata WHERE key = ?", arguments: ["last_number." + table.name])
      let present = try Int64.fetchOne(
        db, sql: "SELECT max(\(SQLText.name(table.primaryKeyColumn))) FROM \(SQLText.name(table.name))")
      last = max(last, given ?? 0, present ?? 0)
    }
    return last
  }

  package func raiseNumbers(above number: Int64) throws {
    guard number > 0 else { return }
    try translating {
      try writer.write { db in
        for table in schema.tables {
          try db.execute(
            sql: """
              INSERT INTO lade_metadata (key, value) VALUES (?, ?)
              ON CONFLICT (key) DO UPDATE SET value = max(value, excluded.value)
              """, arguments: ["last_number." + table.name, number])
        }
      }
    }
  }
}

/// Numbers new rows within one transaction. The last number of each table is kept in `lade_metadata`, so that no number is
/// given twice, also after rows were deleted.
struct RowNumbers {
  private let writer: WriterConnection
  private var last: [String: Int64] = [:]

  /// Numbers for a write on that connection.
  init(of writer: WriterConnection) { self.writer = writer }

  /// The next number of an entity's table.
  mutating func next(_ layout: RowLayout, _ db: Database) throws -> Int64 { try take(1, layout, db) }

  /// Takes the next `count` numbers of an entity's table, which are in sequence. Returns the first.
  mutating func take(_ count: Int, _ layout: RowLayout, _ db: Database) throws -> Int64 {
    let before = try last[layout.table] ?? lastNumber(layout, db)
    let (number, overflows) = before.addingReportingOverflow(Int64(count))
    guard !overflows else {
      throw ManagedObjectError.store(
        StoreFailure(
          .outOfRange, path: writer.path,
          message:
            "the table \(layout.table) has a row with the number \(before), and \(Int64.max) is the greatest that there "
            + "is, so that no row can be numbered after it: give that row another number, or delete it"))
    }
    last[layout.table] = number
    return before + 1
  }

  /// Stores the last numbers that were given.
  func keep(_ db: Database) throws {
    for (table, number) in last {
      try db.cachedStatement(sql: "INSERT OR REPLACE INTO lade_metadata (key, value) VALUES (?, ?)")
        .execute(arguments: ["last_number." + table, number])
    }
    writer.note(last)
  }

  private func lastNumber(_ layout: RowLayout, _ db: Database) throws -> Int64 {
    let given = try Int64.fetchOne(
      db.cachedStatement(sql: "SELECT value FROM lade_metadata WHERE key = ?"),
      arguments: ["last_number." + layout.table])
    // Another program may have added rows.
    let present = try Int64.fetchOne(
      db.cachedStatement(sql: "SELECT max(\(layout.keyColumn.quotedName)) FROM \(layout.table.quotedName)"))
    return max(given ?? 0, present ?? 0, writer.lastNumber(of: layout.table))
  }
}
