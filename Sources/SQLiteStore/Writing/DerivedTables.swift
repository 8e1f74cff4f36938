import Foundation
import GRDB
import ManagedObjects
import SQLSchema

/// The columns that values are derived from and written to, within a transaction.
struct DerivedTables: DerivationKeeper {
  let db: Database
  let tables: StoreTables

  func id(of row: Int64, in entity: EntityDescription) throws -> ManagedObjectID? {
    try rows(RowReader(tables.layouts(of: entity.rootEntity), slots: []), entity, condition(key(entity)), row).first?
      .id
  }

  func value(of property: PropertyDescription, row: Int64) throws -> Value {
    guard tables.holds(property.entity) else { return .null }
    let reader = RowReader(try tables.layouts(of: property.entity), slots: [property.slot])
    return try rows(reader, property.entity, condition(key(property.entity)), row).first?.values[property.slot] ?? .null
  }

  func count(of relationship: RelationshipDescription, owner: Int64) throws -> Int {
    guard let condition = try memberCondition(relationship) else { return 0 }
    let entity = relationship.destinationEntity
    var sql = "SELECT COUNT(*) FROM \(tables.schema.table(of: entity).quotedName) WHERE \(condition)"
    if let column = tables.schema.discriminatorColumn(of: entity), entity.superentity != nil {
      let names = entity.selfAndDescendants.map(tables.schema.entityLiteral).joined(separator: ", ")
      sql += " AND \(column.quotedName) IN (\(names))"
    }
    return try Int.fetchOne(db.cachedStatement(sql: sql), arguments: [owner]) ?? 0
  }

  func values(
    of attribute: AttributeDescription, in relationship: RelationshipDescription, owner: Int64
  ) throws -> [Value] {
    guard let condition = try memberCondition(relationship) else { return [] }
    let entity = relationship.destinationEntity
    let reader = RowReader(try tables.layouts(of: entity), slots: [attribute.slot])
    return try rows(reader, entity, condition, owner).sorted { $0.id.number < $1.id.number }
      .map { $0.values[attribute.slot] }
  }

  func owners(holding row: Int64, in relationship: RelationshipDescription) throws -> [Int64] {
    let entity = relationship.entity
    guard tables.holds(entity) else { return [] }
    let isReferred: String
    if relationship.isManyToMany {
      let pair = tables.schema.pairing(of: relationship)
      isReferred =
        "\(key(entity)) IN (SELECT \(pair.sourceColumn.quotedName) FROM \(pair.table.quotedName) "
        + "WHERE \(pair.destinationColumn.quotedName) = ?)"
    } else {
      isReferred = condition(tables.schema.column(of: relationship, in: entity).quotedName)
    }
    return try rows(RowReader(tables.layouts(of: entity), slots: []), entity, isReferred, row).map(\.id.number)
  }

  func set(_ value: Value, of attribute: AttributeDescription, row: Int64) throws {
    let column = tables.schema.column(of: attribute, in: attribute.entity).quotedName
    let table = tables.schema.table(of: attribute.entity).quotedName
    try db.cachedStatement(sql: "UPDATE \(table) SET \(column) = ? WHERE \(key(attribute.entity)) = ?")
      .execute(arguments: [tables.schema.forms.columnValue(of: value, for: attribute), row])
  }

  // MARK: SQL

  private func key(_ entity: EntityDescription) -> String { tables.schema.primaryKeyColumn(of: entity).quotedName }

  private func condition(_ column: String) -> String { "\(column) = ?" }

  /// What a to-many relationship's members fulfil, with the owner's number; nil when another store holds them.
  private func memberCondition(_ relationship: RelationshipDescription) throws -> String? {
    let entity = relationship.destinationEntity
    guard tables.holds(entity) else { return nil }
    if relationship.isManyToMany {
      let pair = tables.schema.pairing(of: relationship)
      return
        "\(key(entity)) IN (SELECT \(pair.destinationColumn.quotedName) FROM \(pair.table.quotedName) "
        + "WHERE \(pair.sourceColumn.quotedName) = ?)"
    }
    guard let inverse = relationship.inverseRelationship else { return nil }
    return condition(tables.schema.column(of: inverse, in: inverse.entity).quotedName)
  }

  private func rows(
    _ reader: RowReader, _ entity: EntityDescription, _ condition: String, _ argument: Int64
  ) throws -> [StoreRow] {
    let columns = reader.selection.map(\.quotedName).joined(separator: ", ")
    let table = tables.schema.table(of: entity).quotedName
    let statement = try db.cachedStatement(sql: "SELECT \(columns) FROM \(table) WHERE \(condition)")
    try statement.setArguments([argument])
    return try statement.collect(reader, in: db)
  }
}
