package import ManagedObjects

extension SchemaMap {
  /// Statements that prepare the deletion of a row: they remove its pairs and clear references to it, unless the other end's
  /// delete rule is to cascade or deny.
  /// - Parameter number: the SQL of the row's number.
  package func clearings(of entity: EntityDescription, number: String) -> [String] {
    var statements: [String] = []
    for relationship in entity.references where holds(relationship.entity) {
      if relationship.isManyToMany {
        let pair = pairing(of: relationship)
        for column in [pair.sourceColumn, pair.destinationColumn]
        where column == pair.destinationColumn || relationship.inverseRelationship === relationship {
          statements.append("DELETE FROM \(SQLText.name(pair.table)) WHERE \(SQLText.name(column)) = \(number)")
        }
      } else if !relationship.isToMany {
        switch relationship.inverseRelationship?.deleteRule {
        case .cascade, .deny: continue
        case .nullify, .noAction, nil: break
        }
        let table = SQLText.name(table(of: relationship.entity))
        let column = SQLText.name(column(of: relationship, in: relationship.entity))
        statements.append("UPDATE \(table) SET \(column) = NULL WHERE \(column) = \(number)")
      }
    }
    // Pairs of relationships without an inverse.
    for relationship in entity.relationships where relationship.isManyToMany && !relationship.isTransient {
      let pair = pairing(of: relationship)
      statements.append(
        "DELETE FROM \(SQLText.name(pair.table)) WHERE \(SQLText.name(pair.sourceColumn)) = \(number)")
    }
    var seen: Set<String> = []
    return statements.filter { seen.insert($0).inserted }
  }
}
