import PostgreSQL
import SQLSchema

/// What the server knows of the tables in a connection's schema.
struct PostgresCatalogue {
  private let connection: PostgresConnection

  init(_ connection: PostgresConnection) { self.connection = connection }

  /// A foreign key of one column.
  struct ForeignKey {
    let name: String
    let table: String
    let column: String
    let target: String
    let targetColumn: String
  }

  private static let schema = "(SELECT oid FROM pg_namespace WHERE nspname = current_schema())"

  private static func table(_ name: String) -> String {
    "(SELECT oid FROM pg_class WHERE relname = \(SQLText.literal(name)) AND relkind IN ('r', 'p') "
      + "AND relnamespace = \(schema))"
  }

  /// A query's rows, as text.
  func texts(_ sql: String) throws -> [[String?]] {
    try connection.beginText(sql, nil)
    var found: [[String?]] = []
    while let row = try connection.nextRow() { found.append((0..<row.count).map { row.text($0) }) }
    return found
  }

  private func names(_ sql: String) throws -> [String] { try texts(sql).compactMap { $0.first.flatMap { $0 } } }

  /// A table's columns, in lower case.
  func columns(of table: String) throws -> Set<String> { Set(try columnNames(of: table).map { $0.lowercased() }) }

  /// A table's columns in their order; none when there is no such table.
  func columnNames(of table: String) throws -> [String] {
    try names(
      "SELECT attname FROM pg_attribute WHERE attrelid = \(Self.table(table)) AND attnum > 0 AND NOT attisdropped "
        + "ORDER BY attnum")
  }

  /// The tables, sequences, indexes and views of the schema.
  func relations() throws -> Set<String> {
    Set(try names("SELECT relname FROM pg_class WHERE relnamespace = \(Self.schema)"))
  }

  func tables() throws -> [String] {
    try names(
      "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = \(Self.schema) ORDER BY relname")
  }

  /// The names of a table's primary key; one at most.
  func primaryKey(of table: String) throws -> [String] {
    try names("SELECT conname FROM pg_constraint WHERE contype = 'p' AND conrelid = \(Self.table(table))")
  }

  /// The sequence that numbers a table's rows, in quotes, and the column.
  func sequence(of table: String) throws -> (name: String, column: String)? {
    try texts(
      """
      SELECT s.oid::regclass, a.attname FROM pg_depend AS d
      JOIN pg_class AS s ON s.oid = d.objid AND s.relkind = 'S'
      JOIN pg_attribute AS a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
      WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = \(Self.table(table))
        AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
      """
    ).first.flatMap { row in
      guard let name = row[0], let column = row[1] else { return nil }
      return (name, column)
    }
  }

  /// A name with an ending, shortened to what the server keeps of it; nil if it is taken.
  func free(_ name: String, _ ending: String) throws -> String? {
    var start = name
    while start.utf8.count + ending.utf8.count > 63 {
      guard !start.isEmpty else { return nil }
      start.removeLast()
    }
    let name = start + ending
    let isTaken = "SELECT FROM pg_class WHERE relname = \(SQLText.literal(name)) AND relnamespace = \(Self.schema)"
    return try connection.text("SELECT EXISTS (\(isTaken))") == "t" ? nil : name
  }

  /// The foreign keys of one column, of the schema's tables.
  func foreignKeys() throws -> [ForeignKey] {
    func column(_ table: String, _ number: String) -> String {
      "(SELECT attname FROM pg_attribute WHERE attrelid = \(table) AND attnum = \(number))"
    }
    // Names are looked up one by one. A join reads the columns of all schemas, of which a database may have thousands.
    return try texts(
      """
      SELECT c.conname, (SELECT relname FROM pg_class WHERE oid = c.conrelid), \(column("c.conrelid", "c.conkey[1]")),
      (SELECT relname FROM pg_class WHERE oid = c.confrelid), \(column("c.confrelid", "c.confkey[1]"))
      FROM pg_constraint AS c WHERE c.contype = 'f' AND c.connamespace = \(Self.schema) AND cardinality(c.conkey) = 1
      ORDER BY 2, 3
      """
    ).map { row in
      let texts = row.map { $0 ?? "" }
      return ForeignKey(name: texts[0], table: texts[1], column: texts[2], target: texts[3], targetColumn: texts[4])
    }
  }

  /// The foreign keys from a table and to it: the table that has each, in quotes, and its name.
  func foreignKeys(touching table: String) throws -> [(table: String, name: String)] {
    try texts(
      "SELECT conrelid::regclass, conname FROM pg_constraint WHERE contype = 'f' "
        + "AND (conrelid = \(Self.table(table)) OR confrelid = \(Self.table(table))) ORDER BY 1, 2"
    ).map { ($0[0] ?? "", $0[1] ?? "") }
  }

  // MARK: Sizes and indexes

  /// The bytes of all tables, with their indexes.
  func size() throws -> Int64 {
    let text = try connection.text(
      "SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class WHERE relkind IN ('r', 'm') "
        + "AND relnamespace = \(Self.schema)")
    return text.flatMap { Int64($0) } ?? 0
  }

  func size(of table: String) throws -> Int64 {
    try connection.text("SELECT pg_total_relation_size(\(Self.table(table)))").flatMap { Int64($0) } ?? 0
  }

  /// An index of a table of the schema.
  struct Index {
    let name: String
    let table: String
    /// Whether it holds all rows.
    let isValid: Bool
    let isTree: Bool
  }

  func indexes() throws -> [Index] {
    try texts(
      """
      SELECT i.relname, c.relname, x.indisvalid, m.amname = 'btree' FROM pg_index AS x
      JOIN pg_class AS i ON i.oid = x.indexrelid JOIN pg_class AS c ON c.oid = x.indrelid
      JOIN pg_am AS m ON m.oid = i.relam
      WHERE c.relkind = 'r' AND c.relnamespace = \(Self.schema) ORDER BY c.relname, i.relname
      """
    ).map { Index(name: $0[0] ?? "", table: $0[1] ?? "", isValid: $0[2] == "t", isTree: $0[3] == "t") }
  }
}
