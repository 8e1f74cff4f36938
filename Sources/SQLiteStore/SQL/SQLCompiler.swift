package import GRDB
package import ManagedObjects

/// A statement and the values of its parameters, in order.
package struct CompiledQuery: Sendable, Hashable {
  /// The statement's text. It doesn't depend on the values, so it can be the key of a statement cache.
  package let sql: String
  /// The values of the parameters.
  package let arguments: [DatabaseValue]
}

/// Writes fetches as SQL.
///
/// `country.code == 'CH' AND NOT name CONTAINS 'x'`, sorted by name, becomes
///
///     SELECT t0."id", t0."name" FROM "City" AS t0
///     LEFT JOIN "Country" AS t1 ON t1."id" = t0."country_id"
///     WHERE t1."code" = ? AND (instr(t0."name", ?) > 0) IS NOT TRUE
///     ORDER BY t0."name", t0."id"
///
/// Conditions are never unknown (see ``FetchPredicate``), but SQL's can be. An unknown condition counts as false wherever it
/// stands, so `NOT` is written as `IS NOT TRUE`, which turns it into true.
package struct SQLCompiler: Sendable {
  private let schema: SchemaMap
  private let storeIdentifier: String?

  /// A compiler for stores with `schema`.
  /// - Parameter storeIdentifier: the store's identifier; IDs of other stores match none of its rows.
  package init(_ schema: SchemaMap, storeIdentifier: String? = nil) {
    self.schema = schema
    self.storeIdentifier = storeIdentifier
  }

  /// Selects columns of the fetched rows, in order.
  /// - Parameters:
  ///   - columns: names of columns of the entity's table.
  ///   - numbers: decimals of the entity that no row holds as digits; see ``decimalOrder(_:)``.
  /// - Throws: ``SQLCompilerError``.
  package func select(
    _ fetch: StoreFetch, columns: [String], numbers: Set<AttributeDescription> = []
  ) throws(SQLCompilerError) -> CompiledQuery {
    let list = columns.map { "\(QueryBuilder.root).\(SQLText.name($0))" }.joined(separator: ", ")
    var builder = builder(fetch.entity)
    builder.numbers = numbers
    return try query(list, fetch, isOrdered: true, &builder)
  }

  /// The decimal that a fetch sorts by first, if an index could provide the order, and a query for whether some row stores it as
  /// digits (see ``ValueCodec``), which SQLite sorts after all numbers. The query reads only the index's end.
  ///
  /// An index on `lade_decimal_key` would cover all forms, but then no other program could write to the table.
  package func decimalOrder(_ fetch: StoreFetch) -> (attribute: AttributeDescription, sql: String)? {
    guard let path = fetch.sort.first?.path, path.steps.isEmpty, path.isDecimal, let attribute = path.attribute,
      let column = schema.columnIfStored(of: attribute, in: attribute.entity)
    else { return nil }
    let table = schema.table(of: fetch.entity)
    let isIndexed = schema.indexes.contains { index in
      index.table == table && index.condition == nil && index.columns.first?.name == column
        && index.columns.first?.isExpression == false
    }
    guard isIndexed else { return nil }
    return (attribute, "SELECT EXISTS (SELECT 1 FROM \(SQLText.name(table)) WHERE \(SQLText.name(column)) >= '')")
  }

  /// Selects the primary keys of the fetched rows, in order.
  /// - Throws: ``SQLCompilerError``.
  package func primaryKeys(_ fetch: StoreFetch) throws(SQLCompilerError) -> CompiledQuery {
    try select(fetch, columns: [schema.primaryKeyColumn(of: fetch.entity)])
  }

  /// Counts the fetched rows: one row with one number.
  /// - Throws: ``SQLCompilerError``.
  package func count(_ fetch: StoreFetch) throws(SQLCompilerError) -> CompiledQuery {
    guard fetch.limit > 0 || fetch.offset > 0 else { return try query("COUNT(*)", fetch, isOrdered: false) }
    // The number of rows doesn't depend on their order.
    let inner = try query("1", fetch, isOrdered: false)
    return CompiledQuery(sql: "SELECT COUNT(*) FROM (\(inner.sql))", arguments: inner.arguments)
  }

  func builder(_ entity: EntityDescription) -> QueryBuilder {
    QueryBuilder(schema: schema, entity: entity, storeIdentifier: storeIdentifier)
  }

  private func query(_ list: String, _ fetch: StoreFetch, isOrdered: Bool) throws(SQLCompilerError) -> CompiledQuery {
    var builder = builder(fetch.entity)
    return try query(list, fetch, isOrdered: isOrdered, &builder)
  }

  /// Selects `list`, whose joins `builder` knows already.
  func query(
    _ list: String, _ fetch: StoreFetch, isOrdered: Bool, _ builder: inout QueryBuilder
  ) throws(SQLCompilerError) -> CompiledQuery {
    var conditions: [String] = []
    if let condition = builder.entityCondition(includesSubentities: fetch.includesSubentities) {
      conditions.append(condition)
    }
    if let predicate = fetch.predicate { conditions.append(try builder.condition(predicate)) }
    var order: [String] = []
    if isOrdered {
      for sort in fetch.sort { order.append(try builder.term(sort)) }
      // Without a tiebreaker for rows that sort alike, two pages could contain the same row.
      if !order.isEmpty || fetch.limit > 0 || fetch.offset > 0 {
        order.append(builder.primaryKey + (fetch.sort.last?.ascending ?? true ? "" : " DESC"))
      }
    }
    var sql = "SELECT \(list) FROM \(SQLText.name(schema.table(of: fetch.entity))) AS \(QueryBuilder.root)"
    for join in builder.joins { sql += " \(join)" }
    if !conditions.isEmpty { sql += " WHERE " + conditions.joined(separator: " AND ") }
    if !order.isEmpty { sql += " ORDER BY " + order.joined(separator: ", ") }
    if let page = builder.page(fetch) { sql += page }
    return CompiledQuery(sql: sql, arguments: builder.arguments)
  }
}
