import ManagedObjects
import PostgreSQL
import SQLSchema

/// The columns that values are derived from and written to, within a transaction.
struct PostgresDerived: DerivationKeeper {
  let connection: PostgresConnection
  let tables: PostgresTables

  func id(of row: Int64, in entity: EntityDescription) throws -> ManagedObjectID? {
    try rows(tables.layouts(of: entity.rootEntity), [], entity, "\(key(entity)) = $1", row).first?.id
  }

  func value(of property: PropertyDescription, row: Int64) throws -> Value {
    guard tables.holds(property.entity) else { return .null }
    return try rows(
      tables.layouts(of: property.entity), [property.slot], property.entity, "\(key(property.entity)) = $1", row
    ).first?.values[property.slot] ?? .null
  }

  func count(of relationship: RelationshipDescription, owner: Int64) throws -> Int {
    guard let condition = memberCondition(relationship) else { return 0 }
    let entity = relationship.destinationEntity
    var sql = "SELECT COUNT(*) FROM \(SQLText.name(tables.schema.table(of: entity))) WHERE \(condition)"
    if let column = tables.schema.discriminatorColumn(of: entity), entity.superentity != nil {
      let names = entity.selfAndDescendants.map(tables.schema.entityLiteral).joined(separator: ", ")
      sql += " AND \(SQLText.name(column)) IN (\(names))"
    }
    return Int(try connection.query(sql, [.int(owner)]).int(0, 0))
  }

  func values(
    of attribute: AttributeDescription, in relationship: RelationshipDescription, owner: Int64
  ) throws -> [Value] {
    guard let condition = memberCondition(relationship) else { return [] }
    let entity = relationship.destinationEntity
    return try rows(tables.layouts(of: entity), [attribute.slot], entity, condition, owner)
      .sorted { $0.id.number < $1.id.number }.map { $0.values[attribute.slot] }
  }

  func owners(holding row: Int64, in relationship: RelationshipDescription) throws -> [Int64] {
    let entity = relationship.entity
    guard tables.holds(entity) else { return [] }
    let isReferred: String
    if relationship.isManyToMany {
      let pair = tables.schema.pairing(of: relationship)
      isReferred =
        "\(key(entity)) IN (SELECT \(SQLText.name(pair.sourceColumn)) FROM \(SQLText.name(pair.table)) "
        + "WHERE \(SQLText.name(pair.destinationColumn)) = $1)"
    } else {
      isReferred = "\(SQLText.name(tables.schema.column(of: relationship, in: entity))) = $1"
    }
    return try rows(tables.layouts(of: entity), [], entity, isReferred, row).map(\.id.number)
  }

  func set(_ value: Value, of attribute: AttributeDescription, row: Int64) throws {
    guard let kind = PostgresColumnKind(attribute) else { return }
    let column = SQLText.name(tables.schema.column(of: attribute, in: attribute.entity))
    let table = SQLText.name(tables.schema.table(of: attribute.entity))
    try connection.query(
      "UPDATE \(table) SET \(column) = $1 WHERE \(key(attribute.entity)) = $2",
      [try kind.value(of: value) { $0.number }, .int(row)])
  }

  // MARK: SQL

  private func key(_ entity: EntityDescription) -> String { SQLText.name(tables.schema.primaryKeyColumn(of: entity)) }

  /// What a to-many relationship's members fulfil, with the owner's number; nil when another store holds them.
  private func memberCondition(_ relationship: RelationshipDescription) -> String? {
    let entity = relationship.destinationEntity
    guard tables.holds(entity) else { return nil }
    if relationship.isManyToMany {
      let pair = tables.schema.pairing(of: relationship)
      return
        "\(key(entity)) IN (SELECT \(SQLText.name(pair.destinationColumn)) FROM \(SQLText.name(pair.table)) "
        + "WHERE \(SQLText.name(pair.sourceColumn)) = $1)"
    }
    guard let inverse = relationship.inverseRelationship else { return nil }
    return "\(SQLText.name(tables.schema.column(of: inverse, in: inverse.entity))) = $1"
  }

  private func rows(
    _ layouts: [PostgresLayout], _ slots: Set<Int>, _ entity: EntityDescription, _ condition: String, _ argument: Int64
  ) throws -> [StoreRow] {
    let reader = PostgresRowReader(layouts, slots: slots)
    let table = SQLText.name(tables.schema.table(of: entity))
    let rows = try connection.query("SELECT \(reader.columns) FROM \(table) WHERE \(condition)", [.int(argument)])
    return (0..<rows.count).compactMap { reader.row(rows, $0) }
  }
}
