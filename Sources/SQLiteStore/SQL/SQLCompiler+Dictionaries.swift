package import ManagedObjects

extension SQLCompiler {
  /// Selects the columns of a dictionary fetch, in its order. The aggregates of people's ages by their employer's name are
  ///
  ///     SELECT t1."name" AS "=0", COUNT(t0."id") AS "=1" FROM "Person" AS t0
  ///     LEFT JOIN "Company" AS t1 ON t1."id" = t0."employer_id"
  ///     GROUP BY t1."name" HAVING "=1" > ? ORDER BY "=1" DESC, t1."name"
  ///
  /// No column of a table is called `=1`, for names of properties have letters.
  /// - Throws: ``SQLCompilerError``.
  package func dictionaries(_ query: StoreQuery) throws(SQLCompilerError) -> CompiledQuery {
    var builder = builder(query.fetch.entity)
    var list: [String] = []
    for (index, column) in query.columns.enumerated() {
      list.append("\(try builder.term(column)) AS \(Self.alias(index))")
    }
    if query.isRowwise { return try self.query(list.joined(separator: ", "), query.fetch, isOrdered: true, &builder) }

    var unordered = query.fetch
    (unordered.sort, unordered.limit, unordered.offset) = ([], 0, 0)
    let selection = (query.isDistinct ? "DISTINCT " : "") + list.joined(separator: ", ")
    // Everything that stands behind the condition is written behind it, so that parameters keep their places; joins that
    // it needs are in front, and are asked for first.
    var groups: [String] = []
    for group in query.groups { groups.append(try builder.column(group)) }
    for (index, output) in query.outputs.enumerated() {
      let attribute = query.output.attributes[index]
      if case .path(let path) = output {
        builder.name(attribute, try builder.column(path))
      } else {
        builder.name(attribute, Self.alias(index))
      }
    }
    var sql = try self.query(selection, unordered, isOrdered: false, &builder).sql
    if !groups.isEmpty { sql += " GROUP BY " + groups.joined(separator: ", ") }
    if let having = query.having { sql += " HAVING " + (try builder.condition(having)) }
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

  private static func alias(_ index: Int) -> String { "\"=\(index)\"" }
}

extension QueryBuilder {
  /// What stands in a column of a dictionary.
  fileprivate mutating func term(_ column: StoreQuery.Column) throws(SQLCompilerError) -> String {
    switch column {
    case .path(let path): return try self.column(path)
    case .aggregate(let function, let path, let isDistinct):
      let argument = (isDistinct ? "DISTINCT " : "") + (try self.column(path))
      let isDecimal = path.attributeType == .decimal
      switch function {
      case .count: return "COUNT(\(argument))"
      case .sum: return isDecimal ? "lade_decimal_sum(\(argument))" : "COALESCE(SUM(\(argument)), 0)"
      case .average: return "\(isDecimal ? "lade_decimal_average" : "AVG")(\(argument))"
      case .minimum: return "\(isDecimal ? "lade_decimal_least" : "MIN")(\(argument))"
      case .maximum: return "\(isDecimal ? "lade_decimal_greatest" : "MAX")(\(argument))"
      }
    }
  }
}

extension ColumnKind {
  /// The kind of a dictionary's column.
  /// - Throws: ``SQLCompilerError/notStored(entity:property:)``.
  init(_ column: StoreQuery.Column, in store: SQLiteStore) throws {
    switch column {
    case .path(let path): self = try Self.kind(of: path, in: store)
    case .aggregate(let function, let path, _):
      switch (function, path.attributeType) {
      case (.minimum, _), (.maximum, _): self = try Self.kind(of: path, in: store)
      case (.count, _): self = .integer
      case (.sum, .decimal), (.average, .decimal): self = .decimal
      case (.sum, .double), (.sum, .float), (.average, _): self = .real
      case (.sum, _): self = .integer
      }
    }
  }

  private static func kind(of path: ResolvedPath, in store: SQLiteStore) throws -> ColumnKind {
    switch path.end {
    case .objectID(let entity): return .reference(store.scope(of: entity))
    case .entityName: return .text
    case .relationship(let relationship): return .reference(store.scope(of: relationship.destinationEntity))
    case .attribute(let attribute):
      guard let kind = ColumnKind(attribute) else {
        throw SQLCompilerError.notStored(entity: attribute.entity.name, property: attribute.name)
      }
      return kind
    }
  }
}
