package import ManagedObjects

/// What differs between databases: the declarations of columns, and the SQL of conditions and values.
///
/// ``SchemaBuilder`` makes tables and ``SQLQueryBuilder`` queries of every dialect; a store's target has its dialect.
package protocol SQLDialect: Sendable {
  /// A value that is bound to a statement.
  associatedtype Parameter: Sendable, Hashable

  /// How the database's tables are declared.
  static var rules: SchemaRules { get }
  /// The type that an attribute's column is declared with.
  /// - Throws: ``SchemaError/unsupportedAttribute(entity:attribute:type:)``.
  static func columnType(_ attribute: AttributeDescription) throws(SchemaError) -> String

  /// A number as a parameter.
  static func parameter(_ number: Int64) -> Parameter
  /// A parameter as a literal, for statements that are kept.
  static func literal(_ parameter: Parameter) -> String
  /// Whether an offset needs a limit.
  static var requiresLimit: Bool { get }
  /// A condition that always holds, and one that never does.
  static var everything: String { get }
  static var nothing: String { get }

  /// A column as conditions and sort keys read it.
  static func content(
    of attribute: AttributeDescription, _ column: String, _ builder: SQLQueryBuilder<Self>
  ) -> String
  /// A condition that is neither composed of others nor about a collection.
  static func leaf(
    _ predicate: ResolvedPredicate, _ builder: inout SQLQueryBuilder<Self>
  ) throws(SQLCompilerError) -> String
  /// A value in the form of computed ones.
  static func expression(
    _ expression: ResolvedExpression, _ builder: inout SQLQueryBuilder<Self>
  ) throws(SQLCompilerError) -> String
  /// The call of an aggregate function over a collection's values.
  static func aggregate(
    _ function: FetchPredicate.Function, of value: ResolvedExpression, _ text: String
  ) throws(SQLCompilerError) -> String
  /// One term of `ORDER BY`.
  static func term(
    _ sort: ResolvedSort, _ builder: inout SQLQueryBuilder<Self>
  ) throws(SQLCompilerError) -> String
  /// Why an index can't have a term, although it is SQL; nil if it can.
  static func obstacle(inTerm text: String) -> String?
}

/// How a database's tables are declared.
package struct SchemaRules: Sendable {
  /// The database's name, for people.
  package let database: String
  /// The columns that a table can have.
  package let maximumColumns: Int
  /// The bytes that a name can have; nil for any number.
  package let maximumNameLength: Int?
  /// The beginnings of tables' and indexes' names that are the database's own, in lower case.
  package let reservedPrefixes: [String]
  /// Names that a column can't have, in lower case.
  package let reservedColumns: [String]
  /// The type of columns with rows' numbers.
  package let numberType: String
  /// What declares the column that numbers the rows.
  package let primaryKey: String
  /// The type of the column with the name of a row's entity.
  package let markType: String
  /// What follows the parentheses of a join table's declaration.
  package let joinTableOptions: String
  /// Whether columns are declared with their foreign keys. Otherwise ``SchemaMap/foreignKeys`` are added to tables that exist.
  package let declaresForeignKeys: Bool
  /// Whether indexes say that NULL comes before every value, as it does in SQLite.
  package let ordersNulls: Bool
  /// Whether a model's indexes say that they sort rows which are alike by number, as SQLite's do: so do fetches, and a page of one
  /// needn't be sorted then.
  package let endsIndexesWithNumber: Bool

  package init(
    database: String, maximumColumns: Int, maximumNameLength: Int?, reservedPrefixes: [String],
    reservedColumns: [String], numberType: String, primaryKey: String, markType: String, joinTableOptions: String,
    declaresForeignKeys: Bool, ordersNulls: Bool, endsIndexesWithNumber: Bool
  ) {
    self.database = database
    self.maximumColumns = maximumColumns
    self.maximumNameLength = maximumNameLength
    self.reservedPrefixes = reservedPrefixes
    self.reservedColumns = reservedColumns
    self.numberType = numberType
    self.primaryKey = primaryKey
    self.markType = markType
    self.joinTableOptions = joinTableOptions
    self.declaresForeignKeys = declaresForeignKeys
    self.ordersNulls = ordersNulls
    self.endsIndexesWithNumber = endsIndexesWithNumber
  }
}
