import ManagedObjects

// Every relationship is a set of pairs, held by a column, the other end's column or a table of its own. A new relationship
// takes the pairs of the old one, or the reversed pairs of the old one at its other end.

extension TableMigration {
  /// The term for the column of a to-one relationship.
  func term(
    for relationship: RelationshipDescription, _ entity: EntityDescription, _ origin: EntityDescription
  ) -> SQLTerm {
    let destination = relationship.destinationEntity
    if let former = self.origin(of: relationship, in: entity), !former.isToMany {
      guard let column = old.columnIfStored(of: former, in: origin),
        columns[old.table(of: origin)]?.contains(column.lowercased()) == true
      else { return .null }
      guard renumbers(former.destinationEntity, destination) else { return .column(column) }
      let number = SQLTerm(sql: "\(SQLText.name(old.table(of: origin))).\(SQLText.name(column))")
      return moved(number, from: former.destinationEntity, to: destination)
    }
    guard let inverse = relationship.inverseRelationship else { return .null }
    let key = "\(SQLText.name(old.table(of: origin))).\(SQLText.name(old.primaryKeyColumn(of: origin)))"
    let terms = formerRelationships(of: inverse).map { former in
      let owner = moved(SQLTerm(sql: "lade_pair.owner"), from: former.entity, to: destination)
      return SQLTerm(
        sql: "(SELECT \(owner.sql) FROM (\(pairs(of: former))) AS lade_pair WHERE lade_pair.target = \(key))")
    }
    guard let first = terms.first else { return .null }
    return terms.dropFirst().reduce(first) { $0.or($1) }
  }

  /// The term for the column with a row's position among those that refer to the same object.
  func positionTerm(
    for relationship: RelationshipDescription, _ entity: EntityDescription, _ origin: EntityDescription
  ) -> SQLTerm {
    if let former = self.origin(of: relationship, in: entity), !former.isToMany {
      return positionColumn(beside: former).map { SQLTerm.column($0) } ?? .null
    }
    guard let inverse = relationship.inverseRelationship else { return .null }
    let key = "\(SQLText.name(old.table(of: origin))).\(SQLText.name(old.primaryKeyColumn(of: origin)))"
    let terms = formerRelationships(of: inverse).map { former in
      SQLTerm(sql: "(SELECT position FROM (\(pairs(of: former))) WHERE target = \(key))")
    }
    guard let first = terms.first else { return .null }
    return terms.dropFirst().reduce(first) { $0.or($1) }
  }

  /// Whether the pairs of a relationship are in their table as they should be.
  func isAsItShouldBe(_ table: JoinTable) throws -> Bool {
    guard try isMade(by: table.createStatement, table.name) else { return false }
    let former = formerRelationships(of: table.relationship)
    let inverse = table.relationship.inverseRelationship.map { formerRelationships(of: $0) } ?? []
    guard former.count == 1, inverse.allSatisfy({ $0 === former[0].inverseRelationship }), former[0].isManyToMany,
      old.holds(former[0].entity), old.pairing(of: former[0]) == new.pairing(of: table.relationship)
    else { return false }
    return !renumbers(former[0].entity, table.relationship.entity)
      && !renumbers(former[0].destinationEntity, table.relationship.destinationEntity)
  }

  /// Inserts the pairs.
  func fill(_ draft: String, _ table: JoinTable) throws {
    let forward = formerRelationships(of: table.relationship)
    for former in forward { try fill(draft, table.relationship, from: former) }
    guard let inverse = table.relationship.inverseRelationship, inverse !== table.relationship else { return }
    for former in formerRelationships(of: inverse) where !forward.contains(where: { $0.inverseRelationship === former })
    {
      try fill(draft, inverse, from: former)
    }
  }

  private func fill(
    _ draft: String, _ relationship: RelationshipDescription, from former: RelationshipDescription
  ) throws {
    let pairing = new.pairing(of: relationship)
    let owner = moved(SQLTerm(sql: "lade_pair.owner"), from: former.entity, to: relationship.entity)
    let target = moved(
      SQLTerm(sql: "lade_pair.target"), from: former.destinationEntity, to: relationship.destinationEntity)
    var columns = [(pairing.sourceColumn, owner.sql), (pairing.destinationColumn, target.sql)]
    if let position = pairing.positionColumn { columns.append((position, "position")) }
    if let inverse = relationship.inverseRelationship, inverse !== relationship,
      let position = new.pairing(of: inverse).positionColumn
    {
      columns.append((position, "back_position"))
    }
    try execute(
      "INSERT OR IGNORE INTO \(SQLText.name(draft)) (\(columns.map { SQLText.name($0.0) }.joined(separator: ", "))) "
        + "SELECT \(columns.map(\.1).joined(separator: ", ")) FROM (\(pairs(of: former))) AS lade_pair")
  }

  /// The old relationship of an entity's relationship.
  func origin(of relationship: RelationshipDescription, in entity: EntityDescription) -> RelationshipDescription? {
    guard let origin = origins[entity], old.holds(origin), let mapping = mapping[destination: entity.name],
      let name = mapping.relationshipMappings.first(where: { $0.name == relationship.name })?.sourceName
    else { return nil }
    return origin.relationshipsByName[name]
  }

  /// The old relationships whose pairs a relationship takes: several where properties were pulled up.
  private func formerRelationships(of relationship: RelationshipDescription) -> [RelationshipDescription] {
    var found: [RelationshipDescription] = []
    for entity in relationship.entity.selfAndDescendants {
      guard let former = origin(of: relationship, in: entity), !former.isTransient, !found.contains(former),
        isPresent(former)
      else { continue }
      found.append(former)
    }
    return found
  }

  /// Whether the file has the columns that hold a relationship's pairs.
  private func isPresent(_ relationship: RelationshipDescription) -> Bool {
    if relationship.isManyToMany { return columns[old.pairing(of: relationship).table]?.isEmpty == false }
    guard let end = relationship.isToMany ? relationship.inverseRelationship : relationship, old.holds(end.entity),
      let column = old.columnIfStored(of: end, in: end.entity)
    else { return false }
    return columns[old.table(of: end.entity)]?.contains(column.lowercased()) == true
  }

  /// A query for an old relationship's pairs, as `owner` and `target`, with the target's `position` among those of the
  /// owner and the owner's `back_position` among those of the target, null where there is no order.
  private func pairs(of relationship: RelationshipDescription) -> String {
    if relationship.isManyToMany {
      let pairing = old.pairing(of: relationship)
      let back = relationship.inverseRelationship.flatMap { old.pairing(of: $0).positionColumn }
      func position(_ column: String?) -> String {
        column.flatMap { columns[pairing.table]?.contains($0.lowercased()) == true ? SQLText.name($0) : nil } ?? "NULL"
      }
      return
        "SELECT \(SQLText.name(pairing.sourceColumn)) AS owner, \(SQLText.name(pairing.destinationColumn)) AS target, "
        + "\(position(pairing.positionColumn)) AS position, \(position(back)) AS back_position "
        + "FROM \(SQLText.name(pairing.table))"
    }
    let end = relationship.isToMany ? relationship.inverseRelationship ?? relationship : relationship
    let key = SQLText.name(old.primaryKeyColumn(of: end.entity))
    let column = SQLText.name(old.column(of: end, in: end.entity))
    let place = positionColumn(beside: end).map { SQLText.name($0) } ?? "NULL"
    let (owner, target) = relationship.isToMany ? (column, key) : (key, column)
    let (position, back) = relationship.isToMany ? (place, "NULL") : ("NULL", place)
    var sql =
      "SELECT \(owner) AS owner, \(target) AS target, \(position) AS position, \(back) AS back_position "
      + "FROM \(SQLText.name(old.table(of: end.entity))) WHERE \(column) IS NOT NULL"
    if let discriminator = old.discriminatorColumn(of: end.entity) {
      // Siblings may share the column.
      let names = end.entity.selfAndDescendants.map { SQLText.literal($0.name) }.joined(separator: ", ")
      sql += " AND \(SQLText.name(discriminator)) IN (\(names))"
    }
    return sql
  }

  /// The column with a row's position among those that refer to the same object by an old relationship; nil when the file
  /// doesn't have it.
  private func positionColumn(beside relationship: RelationshipDescription) -> String? {
    let table = old.map(of: relationship.entity)
    guard let column = table.positionsByProperty[relationship],
      columns[table.name]?.contains(column.lowercased()) == true
    else { return nil }
    return column
  }
}
