package import ManagedObjects

/// The join from the owners of a to-many relationship to its members.
package struct RelationshipJoin {
  /// The columns of the members that are read.
  package let columns: String
  package let source: String
  /// The column with the owner's number.
  package let owner: String
  /// The `ORDER BY` terms, empty when the relationship has no order.
  package let order: String

  /// nil for a relationship that isn't stored. The store must hold its destination.
  /// - Parameter columns: the columns of the members to read.
  package init?(_ relationship: RelationshipDescription, columns: [String], in schema: SchemaMap) {
    self.columns = columns.map { "m.\(SQLText.name($0))" }.joined(separator: ", ")
    let members = "\(SQLText.name(schema.table(of: relationship.destinationEntity))) AS m"
    let key = "m.\(SQLText.name(schema.primaryKeyColumn(of: relationship.destinationEntity)))"
    if let ordering = schema.ordering(of: relationship) {
      owner = "o.\(SQLText.name(ordering.ownerColumn))"
      source =
        "\(SQLText.name(ordering.table)) AS o JOIN \(members) ON \(key) = o.\(SQLText.name(ordering.memberColumn))"
      let position = "o.\(SQLText.name(ordering.positionColumn))"
      order = " ORDER BY \(position) IS NULL, \(position), \(key)"
    } else if relationship.isManyToMany {
      let pair = schema.pairing(of: relationship)
      owner = "p.\(SQLText.name(pair.sourceColumn))"
      source = "\(SQLText.name(pair.table)) AS p JOIN \(members) ON \(key) = p.\(SQLText.name(pair.destinationColumn))"
      order = ""
    } else if let inverse = relationship.inverseRelationship {
      owner = "m.\(SQLText.name(schema.column(of: inverse, in: inverse.entity)))"
      source = members
      order = ""
    } else {
      return nil
    }
  }
}
