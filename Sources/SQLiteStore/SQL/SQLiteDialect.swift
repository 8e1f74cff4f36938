package import GRDB
package import ManagedObjects
package import SQLSchema

/// SQLite's tables and conditions, with functions of our own wherever SQLite's would answer differently.
package enum SQLiteDialect: SQLDialect {
  package static let rules = SchemaRules(
    // SQLite's default `SQLITE_MAX_COLUMN`.
    database: "SQLite", maximumColumns: 2000, maximumNameLength: nil, reservedPrefixes: ["sqlite_"],
    reservedColumns: [], numberType: "INTEGER", primaryKey: "INTEGER PRIMARY KEY", markType: "TEXT",
    joinTableOptions: " WITHOUT ROWID", declaresForeignKeys: true, ordersNulls: false,
    endsIndexesWithNumber: false)

  package static func columnType(_ attribute: AttributeDescription) throws(SchemaError) -> String {
    try ColumnType.declared(attribute)
  }

  package static func parameter(_ number: Int64) -> DatabaseValue { number.databaseValue }

  package static func literal(_ parameter: DatabaseValue) -> String {
    switch parameter.storage {
    case .null: return "NULL"
    case .int64(let integer): return String(integer)
    case .double(let double): return String(double)
    case .string(let text): return SQLText.literal(text)
    case .blob(let data):
      return "x'" + data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
    }
  }

  package static var requiresLimit: Bool { true }
  package static var everything: String { "1" }
  package static var nothing: String { "0" }

  package static func content(
    of attribute: AttributeDescription, _ column: String, _ builder: SQLQueryBuilder<Self>
  ) -> String {
    let forms = builder.schema.forms
    if builder.readsContent, attribute.allowsFiles { return forms.contentTerm(column) }
    guard forms == .coreData, attribute.type == .decimal else { return column }
    return "lade_rounded_decimal(\(column))"
  }

  package static func leaf(
    _ predicate: ResolvedPredicate, _ builder: inout SQLQueryBuilder<Self>
  ) throws(SQLCompilerError) -> String { try builder.leaf(predicate) }

  package static func expression(
    _ expression: ResolvedExpression, _ builder: inout SQLQueryBuilder<Self>
  ) throws(SQLCompilerError) -> String { try builder.computed(expression) }

  package static func aggregate(
    _ function: FetchPredicate.Function, of value: ResolvedExpression, _ text: String
  ) throws(SQLCompilerError) -> String { QueryBuilder.aggregateCall(function, of: value, text) }

  package static func term(
    _ sort: ResolvedSort, _ builder: inout SQLQueryBuilder<Self>
  ) throws(SQLCompilerError) -> String { try builder.orderTerm(sort) }

  package static func obstacle(inTerm text: String) -> String? {
    guard text.contains("lade_") else { return nil }
    return
      "needs a function that isn't built into SQLite, so that sqlite3 and other programs couldn't change the table "
      + "any more; derive an attribute instead, and index that"
  }
}

/// Builds one statement of SQLite's.
typealias QueryBuilder = SQLQueryBuilder<SQLiteDialect>

extension SchemaMap {
  /// Names the tables, columns and indexes of an SQLite store of `entities`.
  /// - Throws: ``SchemaError``.
  package init(model: ManagedObjectModel, entities: [EntityDescription]? = nil) throws(SchemaError) {
    try self.init(model: model, entities: entities, SQLiteDialect.self)
  }
}
