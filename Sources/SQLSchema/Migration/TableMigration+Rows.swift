import ManagedObjects

extension TableMigration {
  /// The plans for the rows of a table's entities.
  func rowPlans(of table: TableMap) throws -> [Plan] {
    try table.rootEntity.selfAndDescendants.compactMap { entity in
      guard let origin = origins[entity], !origin.isAbstract,
        columns[old.table(of: origin)]?.isEmpty == false
      else { return nil }
      return try plan(from: origin, to: entity)
    }
  }

  private func plan(from origin: EntityDescription, to entity: EntityDescription) throws -> Plan {
    var plan = Plan(origin: origin, entity: entity, columns: [])
    plan.columns.append(
      .init(name: new.primaryKeyColumn(of: entity), term: keyTerm(from: origin, to: entity)))
    if let discriminator = new.discriminatorColumn(of: entity) {
      plan.columns.append(.init(name: discriminator, term: Term(sql: SQLText.literal(entity.name))))
    }
    let mapping = mapping[destination: entity.name]
    for attribute in entity.attributes where attribute !== entity.primaryKey {
      guard let column = new.columnIfStored(of: attribute, in: entity) else { continue }
      let source = mapping?.attributeMappings.first { $0.name == attribute.name }?.source
      plan.columns.append(.init(name: column, term: try term(for: attribute, source, origin)))
    }
    for relationship in entity.relationships {
      guard let column = new.columnIfStored(of: relationship, in: entity) else { continue }
      plan.columns.append(.init(name: column, term: term(for: relationship, entity, origin)))
      guard let position = new.map(of: entity).positionsByProperty[relationship] else { continue }
      plan.columns.append(.init(name: position, term: positionTerm(for: relationship, entity, origin)))
    }
    return plan
  }

  private func term(
    for attribute: AttributeDescription, _ source: PropertyMapping.Source?, _ origin: EntityDescription
  ) throws -> Term {
    func value(_ value: Value) throws -> Term {
      value.isNull ? .null : .constant(try database.parameter(value, for: attribute))
    }
    switch source {
    case .property(let name): return try stored(name, as: attribute, origin) ?? value(attribute.defaultValue)
    case .propertyOrValue(let name, let other):
      return try stored(name, as: attribute, origin)?.or(value(other)) ?? value(other)
    case .value(let constant): return try value(constant)
    // Values that code computes are left to a migration of objects.
    case .custom, nil: return try value(attribute.defaultValue)
    }
  }

  /// The old column of an attribute, in the new attribute's form; nil when the file doesn't have it.
  private func stored(
    _ name: String, as attribute: AttributeDescription, _ origin: EntityDescription
  ) throws -> Term? {
    guard let former = origin.attributesByName[name], let column = old.columnIfStored(of: former, in: origin),
      columns[old.table(of: origin)]?.contains(column.lowercased()) == true
    else { return nil }
    return try database.term(column, in: old.table(of: origin), of: former, as: attribute)
  }

  /// Inserts the rows.
  func fill(_ table: String, _ plan: Plan) throws {
    let names = plan.columns.map { SQLText.name($0.name) }.joined(separator: ", ")
    let terms = plan.columns.map(\.term.sql).joined(separator: ", ")
    try execute(
      "INSERT INTO \(SQLText.name(table)) (\(names)) SELECT \(terms) FROM \(SQLText.name(old.table(of: plan.origin)))"
        + restriction(to: plan.origin),
      plan.columns.flatMap(\.term.arguments))
  }

  func restriction(to entity: EntityDescription) -> String {
    guard let discriminator = old.discriminatorColumn(of: entity) else { return "" }
    return " WHERE \(SQLText.name(discriminator)) = \(SQLText.literal(entity.name))"
  }

  /// Whether a table that has the right columns has the right rows, too.
  package func keepsRows(of table: TableMap, _ plans: [Plan]) -> Bool {
    let roots = Set(plans.compactMap(\.origin.rootEntity))
    guard roots.count <= 1, let root = roots.first, old.table(of: root) == table.name else { return false }
    // Rows of entities that are gone, or that are in another table now, must be removed.
    for entity in root.selfAndDescendants where !entity.isAbstract {
      guard images[entity].map({ $0.rootEntity === table.rootEntity }) == true else { return false }
    }
    return plans.allSatisfy { plan in
      guard plan.origin.name == plan.entity.name else { return false }
      let former = Set(
        plan.origin.properties.filter { $0 !== plan.origin.primaryKey }.flatMap { property in
          [old.columnIfStored(of: property, in: plan.origin), old.map(of: plan.origin).positionsByProperty[property]]
            .compactMap { $0 }
        })
      let fixed = [new.primaryKeyColumn(of: plan.entity), new.discriminatorColumn(of: plan.entity)]
      let present = plan.columns.filter { !fixed.contains($0.name) }
      return plan.columns[0].term == .column(plan.columns[0].name) && Set(present.map(\.name)) == former
        && present.allSatisfy { $0.term == .column($0.name) }
    }
  }
}

// Every relationship is a set of pairs, held by a column, the other end's column or a table of its own. A new relationship
// takes the pairs of the old one, or the reversed pairs of the old one at its other end.

extension TableMigration {
  /// The term for the column of a to-one relationship.
  func term(
    for relationship: RelationshipDescription, _ entity: EntityDescription, _ origin: EntityDescription
  ) -> Term {
    let destination = relationship.destinationEntity
    if let former = self.origin(of: relationship, in: entity), !former.isToMany {
      guard let column = old.columnIfStored(of: former, in: origin),
        columns[old.table(of: origin)]?.contains(column.lowercased()) == true
      else { return .null }
      guard renumbers(former.destinationEntity, destination) else { return .column(column) }
      let number = Term(sql: "\(SQLText.name(old.table(of: origin))).\(SQLText.name(column))")
      return moved(number, from: former.destinationEntity, to: destination)
    }
    guard let inverse = relationship.inverseRelationship else { return .null }
    let key = "\(SQLText.name(old.table(of: origin))).\(SQLText.name(old.primaryKeyColumn(of: origin)))"
    let terms = formerRelationships(of: inverse).map { former in
      let owner = moved(Term(sql: "lade_pair.owner"), from: former.entity, to: destination)
      return Term(
        sql: "(SELECT \(owner.sql) FROM (\(pairs(of: former))) AS lade_pair WHERE lade_pair.target = \(key))")
    }
    guard let first = terms.first else { return .null }
    return terms.dropFirst().reduce(first) { $0.or($1) }
  }

  /// The term for the column with a row's position among those that refer to the same object.
  func positionTerm(
    for relationship: RelationshipDescription, _ entity: EntityDescription, _ origin: EntityDescription
  ) -> Term {
    if let former = self.origin(of: relationship, in: entity), !former.isToMany {
      return positionColumn(beside: former).map { Term.column($0) } ?? .null
    }
    guard let inverse = relationship.inverseRelationship else { return .null }
    let key = "\(SQLText.name(old.table(of: origin))).\(SQLText.name(old.primaryKeyColumn(of: origin)))"
    let terms = formerRelationships(of: inverse).map { former in
      Term(sql: "(SELECT place FROM (\(pairs(of: former))) AS lade_pair WHERE target = \(key))")
    }
    guard let first = terms.first else { return .null }
    return terms.dropFirst().reduce(first) { $0.or($1) }
  }

  /// Whether the pairs of a relationship are in their table as they should be, if that has the right columns.
  package func keepsPairs(of table: JoinTable) -> Bool {
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
    let owner = moved(Term(sql: "lade_pair.owner"), from: former.entity, to: relationship.entity)
    let target = moved(
      Term(sql: "lade_pair.target"), from: former.destinationEntity, to: relationship.destinationEntity)
    var columns = [(pairing.sourceColumn, owner.sql), (pairing.destinationColumn, target.sql)]
    if let position = pairing.positionColumn { columns.append((position, "place")) }
    if let inverse = relationship.inverseRelationship, inverse !== relationship,
      let position = new.pairing(of: inverse).positionColumn
    {
      columns.append((position, "back_place"))
    }
    try execute(
      "INSERT INTO \(SQLText.name(draft)) (\(columns.map { SQLText.name($0.0) }.joined(separator: ", "))) "
        + "SELECT \(columns.map(\.1).joined(separator: ", ")) FROM (\(pairs(of: former))) AS lade_pair "
        + "WHERE \(owner.sql) IS NOT NULL AND \(target.sql) IS NOT NULL ON CONFLICT DO NOTHING")
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

  /// A query for an old relationship's pairs, as `owner` and `target`, with the target's `place` among those of the
  /// owner and the owner's `back_place` among those of the target, null where there is no order.
  private func pairs(of relationship: RelationshipDescription) -> String {
    let nothing = "CAST(NULL AS \(Database.Dialect.rules.numberType))"
    if relationship.isManyToMany {
      let pairing = old.pairing(of: relationship)
      let back = relationship.inverseRelationship.flatMap { old.pairing(of: $0).positionColumn }
      func position(_ column: String?) -> String {
        column.flatMap { columns[pairing.table]?.contains($0.lowercased()) == true ? SQLText.name($0) : nil } ?? nothing
      }
      return
        "SELECT \(SQLText.name(pairing.sourceColumn)) AS owner, \(SQLText.name(pairing.destinationColumn)) AS target, "
        + "\(position(pairing.positionColumn)) AS place, \(position(back)) AS back_place "
        + "FROM \(SQLText.name(pairing.table))"
    }
    let end = relationship.isToMany ? relationship.inverseRelationship ?? relationship : relationship
    let key = SQLText.name(old.primaryKeyColumn(of: end.entity))
    let column = SQLText.name(old.column(of: end, in: end.entity))
    let place = positionColumn(beside: end).map { SQLText.name($0) } ?? nothing
    let (owner, target) = relationship.isToMany ? (column, key) : (key, column)
    let (position, back) = relationship.isToMany ? (place, nothing) : (nothing, place)
    var sql =
      "SELECT \(owner) AS owner, \(target) AS target, \(position) AS place, \(back) AS back_place "
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
