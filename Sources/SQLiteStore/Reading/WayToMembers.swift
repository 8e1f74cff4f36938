import ManagedObjects

/// How SQL gets from the owners of a to-many relationship to what it holds.
struct WayToMembers {
  /// The columns of the members that a reader reads.
  let columns: String
  let tables: String
  /// The column with the owner's number.
  let owner: String
  /// What puts them in order, nothing when they have none.
  let order: String

  /// nil for a relationship of which nothing is stored. The store must hold what it leads to.
  init?(_ relationship: RelationshipDescription, _ reader: RowReader, _ store: SQLiteStore) {
    columns = reader.selection.map { "m.\($0.quotedName)" }.joined(separator: ", ")
    let members = "\(store.schema.table(of: relationship.destinationEntity).quotedName) AS m"
    let key = "m.\(reader.keyColumn.quotedName)"
    if let ordering = store.schema.ordering(of: relationship) {
      owner = "o.\(ordering.ownerColumn.quotedName)"
      tables = "\(ordering.table.quotedName) AS o JOIN \(members) ON \(key) = o.\(ordering.memberColumn.quotedName)"
      let position = "o.\(ordering.positionColumn.quotedName)"
      order = " ORDER BY \(position) IS NULL, \(position), \(key)"
    } else if relationship.isManyToMany {
      let pair = store.schema.pairing(of: relationship)
      owner = "p.\(pair.sourceColumn.quotedName)"
      tables = "\(pair.table.quotedName) AS p JOIN \(members) ON \(key) = p.\(pair.destinationColumn.quotedName)"
      order = ""
    } else if let inverse = relationship.inverseRelationship {
      owner = "m.\(store.schema.column(of: inverse, in: inverse.entity).quotedName)"
      tables = members
      order = ""
    } else {
      return nil
    }
  }
}
