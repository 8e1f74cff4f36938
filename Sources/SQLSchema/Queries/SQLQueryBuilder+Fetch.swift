package import ManagedObjects

extension SQLQueryBuilder {
  /// Selects `list`, whose joins are known already.
  package mutating func query(
    _ list: String, _ fetch: StoreFetch, isOrdered: Bool
  ) throws(SQLCompilerError) -> String {
    var conditions: [String] = []
    if let condition = entityCondition(includesSubentities: fetch.includesSubentities) {
      conditions.append(condition)
    }
    if let predicate = fetch.predicate { conditions.append(try condition(predicate)) }
    var order: [String] = []
    if isOrdered {
      for sort in fetch.sort { order.append(try term(sort)) }
      // Without a tiebreaker for rows that sort alike, two pages could contain the same row.
      if !order.isEmpty || fetch.limit > 0 || fetch.offset > 0 {
        order.append(primaryKey + (fetch.sort.last?.ascending ?? true ? "" : " DESC"))
      }
    }
    var sql = "SELECT \(list) FROM \(SQLText.name(schema.table(of: fetch.entity))) AS \(Self.root)"
    for join in joins { sql += " \(join)" }
    if !conditions.isEmpty { sql += " WHERE " + conditions.joined(separator: " AND ") }
    if !order.isEmpty { sql += " ORDER BY " + order.joined(separator: ", ") }
    if let page = page(fetch) { sql += page }
    return sql
  }
}
