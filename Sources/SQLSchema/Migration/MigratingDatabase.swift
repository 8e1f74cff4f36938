package import ManagedObjects

/// A database whose tables are migrated, within one transaction. ``TableMigration`` decides what becomes of the rows; what differs
/// between databases is here.
package protocol MigratingDatabase {
  associatedtype Dialect: SQLDialect
  typealias Term = SQLTerm<Dialect.Parameter>
  typealias Plan = RowPlan<Dialect.Parameter>

  /// The store, for errors.
  var store: String { get }

  /// Runs a statement. Its parameters are `?`.
  func execute(_ sql: String, _ arguments: [Dialect.Parameter]) throws
  /// The rows of a query that has no parameters, as text; nil for NULL.
  func texts(_ sql: String) throws -> [[String?]]
  /// The columns of a table, in lower case; none when there is no such table.
  func columns(of table: String) throws -> Set<String>

  /// A value as an attribute's column has it.
  func parameter(_ value: Value, for attribute: AttributeDescription) throws -> Dialect.Parameter
  /// The values of an old column in a new attribute's form.
  /// - Parameter table: the old table.
  func term(
    _ column: String, in table: String, of former: AttributeDescription, as attribute: AttributeDescription
  ) throws -> Term

  /// How a table gets its new form.
  func way(of table: TableMap, _ plans: [Plan], in migration: TableMigration<Self>) throws -> TableWay
  /// The same for a join table.
  func way(of table: JoinTable, in migration: TableMigration<Self>) throws -> TableWay

  /// Prepares old tables to be dropped: others may refer to them.
  func release(_ tables: [String]) throws
  /// Gives a new table its final name.
  func rename(_ draft: String, to name: String) throws
  /// Runs statements of which a failed one leaves the transaction usable.
  func attempting(_ body: () throws -> Void) throws
  /// Whether a statement has failed because values that must be unique aren't.
  func isDuplicate(_ error: any Error) -> Bool
  /// Checks that every reference leads to a row, and that the database keeps it so from now on.
  /// - Throws: ``MigrationError/brokenReferences(store:references:)``.
  func checkReferences(of schema: SchemaMap) throws

  /// The last number given to a row of an old table; nil if none is known.
  func lastNumber(of table: String) throws -> Int64?
  /// Keeps the last numbers given, by new tables' names.
  func keep(lastNumbers: [String: Int64], of old: SchemaMap) throws
}

/// How a table gets its new form.
package enum TableWay: Sendable, Equatable {
  /// It is as it should be.
  case stays
  /// Statements change the old table; then it may get another name.
  case altered(from: String, statements: [String])
  /// A new table gets its rows.
  case rebuilt
}

/// How the rows of one old entity are converted to those of a new one.
package struct RowPlan<Parameter: Sendable & Hashable>: Sendable {
  /// A column and the term for its values.
  package struct Column: Sendable, Equatable {
    package let name: String
    package let term: SQLTerm<Parameter>
  }

  package let origin: EntityDescription
  package let entity: EntityDescription
  /// Every column of the new entity, primary key and discriminator included.
  package var columns: [Column]
}

/// A piece of SQL with the values of its parameters.
package struct SQLTerm<Parameter: Sendable & Hashable>: Sendable, Equatable {
  package var sql: String
  package var arguments: [Parameter]
  /// The only column that it reads, without quotes; nil if it reads none or more.
  package var source: String?

  package init(sql: String, arguments: [Parameter] = [], source: String? = nil) {
    self.sql = sql
    self.arguments = arguments
    self.source = source
  }

  package static var null: SQLTerm { SQLTerm(sql: "NULL") }

  package static func column(_ name: String) -> SQLTerm { SQLTerm(sql: SQLText.name(name), source: name) }

  /// A value that is the same for all rows.
  package static func constant(_ value: Parameter) -> SQLTerm { SQLTerm(sql: "?", arguments: [value]) }

  /// Whether it is NULL, or a ``constant(_:)``.
  package var isConstant: Bool { self == .null || (sql == "?" && arguments.count == 1) }

  func plus(_ number: Int64) -> SQLTerm {
    number == 0 ? self : SQLTerm(sql: "\(sql) + \(number)", arguments: arguments)
  }

  func or(_ other: SQLTerm) -> SQLTerm {
    SQLTerm(
      sql: "coalesce(\(sql), \(other.sql))", arguments: arguments + other.arguments,
      source: other.isConstant ? source : nil)
  }
}
