import ManagedObjects
import PostgreSQL
import SQLSchema

/// The columns with positions, within a transaction.
struct PostgresOrders: OrderKeeper {
  let connection: PostgresConnection
  let schema: SchemaMap

  func members(of relationship: RelationshipDescription, _ owner: Int64) throws -> [OrderPlan.Member] {
    guard let ordering = schema.ordering(of: relationship) else { return [] }
    let (member, position) = (SQLText.name(ordering.memberColumn), SQLText.name(ordering.positionColumn))
    let rows = try connection.query(
      "SELECT \(member), \(position) FROM \(SQLText.name(ordering.table)) "
        + "WHERE \(SQLText.name(ordering.ownerColumn)) = $1 ORDER BY \(position) NULLS LAST, \(member)", [.int(owner)])
    return (0..<rows.count).map { .init(number: rows.int($0, 0), position: rows.optionalInt($0, 1)) }
  }

  func lastPosition(in relationship: RelationshipDescription, of owner: Int64) throws -> Int64? {
    guard let ordering = schema.ordering(of: relationship) else { return nil }
    return try connection.query(
      "SELECT max(\(SQLText.name(ordering.positionColumn))) FROM \(SQLText.name(ordering.table)) "
        + "WHERE \(SQLText.name(ordering.ownerColumn)) = $1", [.int(owner)]
    ).optionalInt(0, 0)
  }

  func place(
    _ member: Int64, in relationship: RelationshipDescription, from former: Int64?, to owner: Int64?,
    at position: Int64?
  ) throws {
    guard let ordering = schema.ordering(of: relationship) else { return }
    let sql =
      "UPDATE \(SQLText.name(ordering.table)) SET \(SQLText.name(ordering.positionColumn)) = $1 "
      + "WHERE \(SQLText.name(ordering.memberColumn)) = $2"
    let place = position.map { PostgresValue.int($0) } ?? .null(.int8)
    guard relationship.isManyToMany else {
      try connection.query(sql, [place, .int(member)])
      return
    }
    let pair = (owner ?? former).map { PostgresValue.int($0) } ?? .null(.int8)
    try connection.query("\(sql) AND \(SQLText.name(ordering.ownerColumn)) = $3", [place, .int(member), pair])
  }
}
