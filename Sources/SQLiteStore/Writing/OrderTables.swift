import GRDB
import ManagedObjects
import SQLSchema

/// The columns with positions, within a transaction.
struct OrderTables: OrderKeeper {
  let db: Database
  let schema: SchemaMap

  func members(of relationship: RelationshipDescription, _ owner: Int64) throws -> [OrderPlan.Member] {
    guard let ordering = schema.ordering(of: relationship) else { return [] }
    let (member, position) = (ordering.memberColumn.quotedName, ordering.positionColumn.quotedName)
    let statement = try db.cachedStatement(
      sql: "SELECT \(member), \(position) FROM \(ordering.table.quotedName) "
        + "WHERE \(ordering.ownerColumn.quotedName) = ? ORDER BY \(position) IS NULL, \(position), \(member)")
    return try Row.fetchAll(statement, arguments: [owner]).map { .init(number: $0[0], position: $0[1]) }
  }

  func lastPosition(in relationship: RelationshipDescription, of owner: Int64) throws -> Int64? {
    guard let ordering = schema.ordering(of: relationship) else { return nil }
    let statement = try db.cachedStatement(
      sql: "SELECT max(\(ordering.positionColumn.quotedName)) FROM \(ordering.table.quotedName) "
        + "WHERE \(ordering.ownerColumn.quotedName) = ?")
    return try Int64.fetchOne(statement, arguments: [owner])
  }

  func place(
    _ member: Int64, in relationship: RelationshipDescription, from former: Int64?, to owner: Int64?,
    at position: Int64?
  ) throws {
    guard let ordering = schema.ordering(of: relationship) else { return }
    var sql =
      "UPDATE \(ordering.table.quotedName) SET \(ordering.positionColumn.quotedName) = ? "
      + "WHERE \(ordering.memberColumn.quotedName) = ?"
    guard relationship.isManyToMany else {
      try db.cachedStatement(sql: sql).execute(arguments: [position, member])
      return
    }
    sql += " AND \(ordering.ownerColumn.quotedName) = ?"
    try db.cachedStatement(sql: sql).execute(arguments: [position, member, owner ?? former])
  }
}
