package import GRDB
package import ManagedObjects
package import SQLSchema

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
    CompiledQuery(sql: try builder.query(list, fetch, isOrdered: isOrdered), arguments: builder.arguments)
  }
}

extension SQLCompiler {
  /// Selects the columns of a dictionary fetch, in its order. The aggregates of people's ages by their employer's name are
  ///
  ///     SELECT t1."name" AS "=0", COUNT(t0."id") AS "=1" FROM "Person" AS t0
  ///     LEFT JOIN "Company" AS t1 ON t1."id" = t0."employer_id"
  ///     GROUP BY t1."name" HAVING "=1" > ? ORDER BY "=1" DESC, t1."name"
  ///
  /// No table column is called `=1`, because names of properties begin with a letter.
  /// - Throws: ``SQLCompilerError``.
  package func dictionaries(_ query: StoreQuery) throws(SQLCompilerError) -> CompiledQuery {
    var builder = builder(query.fetch.entity)
    if query.isComputed { return try computed(query, &builder) }
    var list: [String] = []
    for (index, column) in query.columns.enumerated() {
      list.append("\(try builder.term(column)) AS \(Self.alias(index))")
    }
    if query.isRowwise { return try self.query(list.joined(separator: ", "), query.fetch, isOrdered: true, &builder) }
    let selection = (query.isDistinct ? "DISTINCT " : "") + list.joined(separator: ", ")
    // SQL after the condition is also generated after it, so that parameters keep their order. Its joins come before the
    // condition, so they are requested first.
    for (index, output) in query.outputs.enumerated() {
      let attribute = query.output.attributes[index]
      if case .value(.path(let path)) = output {
        builder.name(attribute, try builder.column(path))
      } else {
        builder.name(attribute, Self.alias(index))
      }
    }
    let sql = try grouped(selection, query, &builder)
    return try choose(sql, " HAVING ", query, &builder)
  }

  /// Selects computed columns from a subquery of their inputs.
  ///
  ///     SELECT "=0", ("=a0" - "=a1") AS "=1" FROM (
  ///       SELECT t0."employer_id" AS "=0", MAX(t0."age") AS "=a0", MIN(t0."age") AS "=a1" FROM "Person" AS t0
  ///       GROUP BY t0."employer_id") WHERE "=1" > ?
  private func computed(
    _ query: StoreQuery, _ builder: inout QueryBuilder
  ) throws(SQLCompilerError) -> CompiledQuery {
    var outer = self.builder(query.fetch.entity)
    var list: [String] = []
    for (index, output) in query.outputs.enumerated() {
      outer.name(query.output.attributes[index], Self.alias(index))
      if case .value(.path(let path)) = output { outer.name(path, Self.alias(index)) }
      if case .computed = output { continue }
      list.append("\(try builder.term(output)) AS \(Self.alias(index))")
    }
    for (index, entry) in query.aggregates.enumerated() {
      outer.name(entry.attribute, Self.alias("a\(index)"))
      list.append("\(try builder.term(.aggregate(entry.aggregate))) AS \(Self.alias("a\(index)"))")
    }
    if list.isEmpty { list.append("1") }
    let inner = try grouped(list.joined(separator: ", "), query, &builder)
    var selection: [String] = []
    for (index, column) in query.columns.enumerated() {
      guard case .computed = column else {
        selection.append(Self.alias(index))
        continue
      }
      selection.append("\(try outer.term(column)) AS \(Self.alias(index))")
    }
    outer.bindLater(builder.arguments)
    let start = "SELECT \(query.isDistinct ? "DISTINCT " : "")\(selection.joined(separator: ", "))"
    return try choose("\(start) FROM (\(inner))", " WHERE ", query, &outer)
  }

  /// Selects `selection` of the rows that match, or of their groups.
  private func grouped(
    _ selection: String, _ query: StoreQuery, _ builder: inout QueryBuilder
  ) throws(SQLCompilerError) -> String {
    var unordered = query.fetch
    (unordered.sort, unordered.limit, unordered.offset) = ([], 0, 0)
    var groups: [String] = []
    for place in query.groups {
      if case .value(.path(let path)) = query.outputs[place] {
        groups.append(try builder.column(path))
      } else {
        groups.append(Self.alias(place))
      }
    }
    let sql = try self.query(selection, unordered, isOrdered: false, &builder).sql
    return groups.isEmpty ? sql : sql + " GROUP BY " + groups.joined(separator: ", ")
  }

  /// Adds the condition on columns, the order, the limit and the offset.
  private func choose(
    _ start: String, _ word: String, _ query: StoreQuery, _ builder: inout QueryBuilder
  ) throws(SQLCompilerError) -> CompiledQuery {
    var sql = start
    if let having = query.having { sql += word + (try builder.condition(having)) }
    if query.hasOrder {
      var order: [String] = []
      for sort in query.order { order.append(try builder.term(sort)) }
      for attribute in query.tiebreakers {
        let column = builder.names[attribute] ?? ""
        order.append(attribute.type == .decimal ? "lade_decimal_key(\(column))" : column)
      }
      sql += " ORDER BY " + order.joined(separator: ", ")
      if let page = builder.page(query.fetch) { sql += page }
    }
    return CompiledQuery(sql: sql, arguments: builder.arguments)
  }

  private static func alias(_ index: some CustomStringConvertible) -> String { "\"=\(index)\"" }
}

extension QueryBuilder {
  /// The SQL of a dictionary's column.
  fileprivate mutating func term(_ column: StoreQuery.Column) throws(SQLCompilerError) -> String {
    switch column {
    case .value(let expression), .computed(let expression): return try stored(expression, argument(expression))
    case .aggregate(let aggregate):
      let (element, function) = (aggregate.element, aggregate.function)
      let argument = (aggregate.isDistinct ? "DISTINCT " : "") + (try argument(element))
      let isDecimal = element.isDecimal
      switch function {
      case .count: return "COUNT(\(argument))"
      case .sum: return isDecimal ? "lade_sum_decimal(\(argument))" : "COALESCE(SUM(\(argument)), 0)"
      case .average: return "\(isDecimal ? "lade_avg_decimal" : "AVG")(\(argument))"
      case .minimum: return stored(element, "\(isDecimal ? "lade_min_decimal" : "MIN")(\(argument))")
      case .maximum: return stored(element, "\(isDecimal ? "lade_max_decimal" : "MAX")(\(argument))")
      }
    }
  }

  /// A stored column, or a computed value in the column's form.
  private mutating func argument(_ expression: ResolvedExpression) throws(SQLCompilerError) -> String {
    if case .path(let path) = expression { return try column(path) }
    return try self.expression(expression)
  }

  /// A computed value in the form of a column. Dates have a different form when they are computed.
  private func stored(_ expression: ResolvedExpression, _ text: String) -> String {
    if case .path = expression { return text }
    return expression.kind == .date ? schema.forms.storedDate(text) : text
  }
}

extension ColumnKind {
  /// The kind of a dictionary's column.
  /// - Throws: ``SQLCompilerError/notStored(entity:property:)``.
  init(_ column: StoreQuery.Column, in tables: StoreTables) throws {
    switch column {
    case .value(let expression), .computed(let expression): self = try Self.kind(of: expression, in: tables)
    case .aggregate(let aggregate):
      switch aggregate.function {
      case .minimum, .maximum: self = try Self.kind(of: aggregate.element, in: tables)
      case .count, .sum, .average: self = Self.number(aggregate.valueType)
      }
    }
  }

  private static func kind(of expression: ResolvedExpression, in tables: StoreTables) throws -> ColumnKind {
    if case .path(let path) = expression { return try kind(of: path, in: tables) }
    switch expression.kind {
    case .string?: return .text
    case .date?: return tables.schema.forms == .own ? .isoDate : .referenceDate
    case .uuid?: return .uuid
    case .uri?: return .uri
    case .data?: return .blob
    case .object?:
      guard let root = expression.objectRoot else { return .number }
      return .reference(tables.scope(of: root))
    case .number?, .opaque?, nil: return number(expression.valueType)
    }
  }

  private static func number(_ type: AttributeType?) -> ColumnKind {
    switch type {
    case .boolean?: return .boolean
    case .decimal?: return .decimal
    case .double?, .float?: return .real
    case .integer16?, .integer32?, .integer64?: return .integer
    default: return .number
    }
  }

  private static func kind(of path: ResolvedPath, in tables: StoreTables) throws -> ColumnKind {
    switch path.end {
    case .objectID(let entity): return .reference(tables.scope(of: entity))
    case .entityName: return .text
    case .composite(let composite):
      throw SQLCompilerError.notStored(entity: path.steps.last?.destinationEntity.name ?? "", property: composite.name)
    case .relationship(let relationship): return .reference(tables.scope(of: relationship.destinationEntity))
    case .attribute(let attribute):
      guard let kind = tables.schema.forms.kind(of: attribute) else {
        throw SQLCompilerError.notStored(entity: attribute.entity.name, property: attribute.name)
      }
      return kind
    }
  }
}
