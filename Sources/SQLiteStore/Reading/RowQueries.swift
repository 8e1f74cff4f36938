import ManagedObjects

/// The statements that look up a hierarchy's rows by their numbers. Cached: making their text takes longer than reading a
/// row.
struct RowsByNumber: Sendable {
  let reader: RowReader
  /// The statement for one row.
  let ofOne: String
  /// The statement for several rows, up to the parenthesised list of numbers.
  let ofSeveral: String

  init(_ layouts: [RowLayout]) {
    reader = RowReader(layouts)
    let columns = reader.selection.map(\.quotedName).joined(separator: ", ")
    let start = "SELECT \(columns) FROM \(layouts[0].table.quotedName) WHERE \(reader.keyColumn.quotedName)"
    ofOne = start + " = ?"
    ofSeveral = start + " IN"
  }
}

/// The join from the owners of a to-many relationship to its members.
struct RelationshipJoin {
  /// The columns of the members that are read.
  let columns: String
  let source: String
  /// The column with the owner's number.
  let owner: String
  /// The `ORDER BY` terms, empty when the relationship has no order.
  let order: String

  /// nil for a relationship that isn't stored. The store must hold its destination.
  init?(_ relationship: RelationshipDescription, _ reader: RowReader, _ tables: StoreTables) {
    columns = reader.selection.map { "m.\($0.quotedName)" }.joined(separator: ", ")
    let members = "\(tables.schema.table(of: relationship.destinationEntity).quotedName) AS m"
    let key = "m.\(reader.keyColumn.quotedName)"
    if let ordering = tables.schema.ordering(of: relationship) {
      owner = "o.\(ordering.ownerColumn.quotedName)"
      source = "\(ordering.table.quotedName) AS o JOIN \(members) ON \(key) = o.\(ordering.memberColumn.quotedName)"
      let position = "o.\(ordering.positionColumn.quotedName)"
      order = " ORDER BY \(position) IS NULL, \(position), \(key)"
    } else if relationship.isManyToMany {
      let pair = tables.schema.pairing(of: relationship)
      owner = "p.\(pair.sourceColumn.quotedName)"
      source = "\(pair.table.quotedName) AS p JOIN \(members) ON \(key) = p.\(pair.destinationColumn.quotedName)"
      order = ""
    } else if let inverse = relationship.inverseRelationship {
      owner = "m.\(tables.schema.column(of: inverse, in: inverse.entity).quotedName)"
      source = members
      order = ""
    } else {
      return nil
    }
  }
}
