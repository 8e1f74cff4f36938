package import ManagedObjects

/// One column of a table, as it is created.
package struct ColumnDefinition: Sendable, Hashable {
  /// The column's name, without quotes.
  package let name: String
  /// What follows the name in `CREATE TABLE`.
  package let declaration: String

  package init(name: String, declaration: String) {
    self.name = name
    self.declaration = declaration
  }
}

/// The table of one entity hierarchy.
package struct TableMap: Sendable {
  /// The table's name, without quotes.
  package let name: String
  /// The root of the hierarchy.
  package let rootEntity: EntityDescription
  /// The column that numbers the rows; in SQLite an alias of the rowid.
  package let primaryKeyColumn: String
  /// The column with the name of the row's entity; nil when the hierarchy is one entity.
  package let discriminatorColumn: String?
  /// Every column, in the order of creation, primary key and discriminator first.
  package let columns: [ColumnDefinition]
  /// Column names by property. A property that siblings share has the same column in each.
  package let columnsByProperty: [PropertyDescription: String]
  /// By to-one relationship with an ordered inverse: the column with the row's position in that order.
  package let positionsByProperty: [PropertyDescription: String]

  package init(
    name: String, rootEntity: EntityDescription, primaryKeyColumn: String, discriminatorColumn: String?,
    columns: [ColumnDefinition], columnsByProperty: [PropertyDescription: String],
    positionsByProperty: [PropertyDescription: String]
  ) {
    self.name = name
    self.rootEntity = rootEntity
    self.primaryKeyColumn = primaryKeyColumn
    self.discriminatorColumn = discriminatorColumn
    self.columns = columns
    self.columnsByProperty = columnsByProperty
    self.positionsByProperty = positionsByProperty
  }

  /// The text of `CREATE TABLE`, one column per line.
  package var createStatement: String {
    let lines = columns.map { "  \(SQLText.name($0.name)) \($0.declaration)" }
    return "CREATE TABLE IF NOT EXISTS \(SQLText.name(name)) (\n\(lines.joined(separator: ",\n"))\n)"
  }
}

/// The table of a many-to-many relationship's pairs.
package struct JoinTable: Sendable {
  /// The table's name, without quotes.
  package let name: String
  /// The end that the table is named after. Its inverse has the same table.
  package let relationship: RelationshipDescription
  /// The column with the object that `relationship` starts from.
  package let sourceColumn: String
  /// The column with the object that `relationship` leads to.
  package let destinationColumn: String
  package let sourceReference: String
  package let destinationReference: String
  /// The columns with a pair's position in the order of `relationship`, and in that of its inverse, where they have one.
  package let positionColumns: [String]
  let positionType: String
  let options: String

  /// The text of `CREATE TABLE`.
  package var createStatement: String {
    let (source, destination) = (SQLText.name(sourceColumn), SQLText.name(destinationColumn))
    return """
      CREATE TABLE IF NOT EXISTS \(SQLText.name(name)) (
        \(source) \(sourceReference) NOT NULL,
        \(destination) \(destinationReference) NOT NULL,
      \(positionColumns.map { "  \(SQLText.name($0)) \(positionType),\n" }.joined())\
        PRIMARY KEY (\(source), \(destination))
      )\(options)
      """
  }
}

/// A relationship's columns in its join table.
package struct Pairing: Sendable, Hashable {
  /// The join table's name, without quotes.
  package let table: String
  /// The column with the object that the relationship starts from.
  package let sourceColumn: String
  /// The column with the object that it leads to.
  package let destinationColumn: String
  /// The column with the position of the object that it leads to, if it is ordered.
  package let positionColumn: String?

  package init(table: String, sourceColumn: String, destinationColumn: String, positionColumn: String?) {
    self.table = table
    self.sourceColumn = sourceColumn
    self.destinationColumn = destinationColumn
    self.positionColumn = positionColumn
  }
}

/// The storage of an ordered relationship's order: rows of a table, each of an owner and a member, sorted by a column.
///
/// Positions are integers with gaps of any size; rows without one come last, in the order of their numbers.
package struct Ordering: Sendable, Hashable {
  /// The table's name: the members' own, or the join table.
  package let table: String
  /// The column with the number of the object that the relationship starts from.
  package let ownerColumn: String
  /// The column with the number of the object that it leads to.
  package let memberColumn: String
  /// The column with the member's position.
  package let positionColumn: String
}

/// One index.
package struct IndexMap: Sendable, Hashable {
  /// A column of an index.
  package struct Column: Sendable, Hashable {
    /// The column's name without quotes, or an expression as SQL.
    package let name: String
    package let isAscending: Bool
    package var isExpression = false

    /// As it stands in SQL.
    package var text: String { isExpression ? "(\(name))" : SQLText.name(name) }
  }

  /// The index's name, without quotes.
  package let name: String
  /// The table's name, without quotes.
  package let table: String
  package let columns: [Column]
  package let isUnique: Bool
  /// The condition on the rows in it, as SQL; nil for all rows.
  package let condition: String?
  /// Whether the statement says that NULL comes before every value.
  let ordersNulls: Bool
  /// The column with the rows' numbers, where the statement says that rows which are alike are sorted by them.
  let numberColumn: String?

  private func order(of column: Column) -> String {
    // No row lacks its number.
    let ordersNulls = ordersNulls && column.name != numberColumn
    return column.isAscending ? (ordersNulls ? " NULLS FIRST" : "") : " DESC" + (ordersNulls ? " NULLS LAST" : "")
  }

  /// The terms that an index may have in PostgreSQL.
  private static let mostTerms = 32

  /// The text of `CREATE INDEX`.
  package var createStatement: String {
    var terms = columns.map { $0.text + order(of: $0) }
    if let numberColumn, terms.count < Self.mostTerms, !columns.contains(where: { $0.name == numberColumn }) {
      terms.append(SQLText.name(numberColumn))
    }
    let list = terms.joined(separator: ", ")
    return
      "CREATE \(isUnique ? "UNIQUE " : "")INDEX IF NOT EXISTS \(SQLText.name(name)) ON \(SQLText.name(table)) (\(list))"
      + (condition.map { " WHERE \($0)" } ?? "")
  }
}

/// How a column refers to another table's rows.
package struct ForeignKey: Sendable, Hashable {
  /// The table that has the column.
  package let table: String
  package let column: String
  /// The table that it refers to.
  package let target: String
  package let targetColumn: String

  /// Checked when a transaction commits, so that rows may come in any order within it.
  package static func clause(to table: String, _ column: String) -> String {
    "REFERENCES \(SQLText.name(table))(\(SQLText.name(column))) DEFERRABLE INITIALLY DEFERRED"
  }
}
