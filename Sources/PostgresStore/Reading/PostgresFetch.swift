import ManagedObjects
import OrderedCollections
import PostgreSQL
import SQLSchema

/// The statements of a store's reads.
struct PostgresFetch {
  private let tables: PostgresTables

  init(_ tables: PostgresTables) { self.tables = tables }

  /// Selects a fetch's rows; nil when its predicate or order can't be SQL.
  /// - Throws: ``SQLCompilerError/notStored(entity:property:)``.
  func select(_ fetch: StoreFetch, _ reader: PostgresRowReader) throws -> PostgresStatement? {
    try compiled(fetch.entity) { builder throws(SQLCompilerError) in
      try builder.query(reader.fetchedColumns, fetch, isOrdered: true)
        + (fetch.skipsLockedRows ? " FOR NO KEY UPDATE OF \(PostgresBuilder.root) SKIP LOCKED" : "")
    }
  }

  /// Counts a fetch's rows; nil when its predicate can't be SQL.
  func count(_ fetch: StoreFetch) throws -> PostgresStatement? {
    try compiled(fetch.entity) { builder throws(SQLCompilerError) in
      guard fetch.limit > 0 || fetch.offset > 0 else { return try builder.query("COUNT(*)", fetch, isOrdered: false) }
      return "SELECT COUNT(*) FROM (\(try builder.query("1", fetch, isOrdered: false))) AS page"
    }
  }

  /// Selects columns of rows, or how many rows there are of each group; nil when they are computed otherwise, or the predicate or
  /// order can't be SQL.
  func dictionaries(_ query: StoreQuery) throws -> (statement: PostgresStatement, kinds: [PostgresColumnKind])? {
    if query.isGrouped { return try counts(query) }
    guard query.isRowwise else { return nil }
    var kinds: [PostgresColumnKind] = []
    var paths: [ResolvedPath] = []
    for column in query.columns {
      guard case .value(.path(let path)) = column, let kind = kind(of: path) else { return nil }
      kinds.append(kind)
      paths.append(path)
    }
    let statement = try compiled(query.fetch.entity) { builder throws(SQLCompilerError) in
      var list: [String] = []
      for path in paths { list.append(try builder.column(path)) }
      return try builder.query(list.joined(separator: ", "), query.fetch, isOrdered: true)
    }
    return statement.map { ($0, kinds) }
  }

  private func counts(_ query: StoreQuery) throws -> (statement: PostgresStatement, kinds: [PostgresColumnKind])? {
    guard !query.isDistinct, !query.hasOrder, query.having == nil, query.extras.isEmpty else { return nil }
    let kinds = query.columns.map { column -> PostgresColumnKind? in
      switch column {
      case .aggregate(let aggregate) where aggregate.function == .count && !aggregate.isDistinct: .integer
      case .value(.path(let path)) where !leadsElsewhere(path): kind(of: path).flatMap { $0.groupsAlike ? $0 : nil }
      default: nil
      }
    }
    let known = kinds.compactMap(\.self)
    guard known.count == kinds.count else { return nil }
    let statement = try compiled(query.fetch.entity) { builder throws(SQLCompilerError) in
      var list: [String] = []
      for column in query.columns {
        switch column {
        case .aggregate(let aggregate): list.append("COUNT(\(try builder.expression(aggregate.element)))")
        case .value(let value), .computed(let value): list.append(try builder.expression(value))
        }
      }
      let rows = try builder.query(list.joined(separator: ", "), query.fetch, isOrdered: false)
      return query.groups.isEmpty ? rows : rows + " GROUP BY " + query.groups.map { list[$0] }.joined(separator: ", ")
    }
    return statement.map { ($0, known) }
  }

  /// Whether a path leads to an entity that another store holds. Its values are NULL, by which SQL groups nothing.
  private func leadsElsewhere(_ path: ResolvedPath) -> Bool {
    var steps = path.steps
    if case .relationship(let last) = path.end { steps.append(last) }
    return steps.contains { !tables.holds($0.destinationEntity) }
  }

  /// Selects the rows that fulfil those parts of a predicate's conjunction that are SQL.
  func superset(_ fetch: StoreFetch, _ reader: PostgresRowReader) throws -> PostgresStatement {
    var wider = fetch
    wider.sort = []
    wider.limit = 0
    wider.offset = 0
    wider.predicate = nil
    var parts: [ResolvedPredicate] = []
    for part in fetch.predicate.map(Self.conjunction) ?? [] {
      let isSQL = try compiled(fetch.entity) { builder throws(SQLCompilerError) in try builder.condition(part) }
      if isSQL != nil { parts.append(part) }
    }
    if !parts.isEmpty { wider.predicate = .and(parts) }
    return try select(wider, reader)
      ?? PostgresStatement("SELECT \(reader.fetchedColumns) FROM \(table(fetch.entity)) AS t0", [])
  }

  private static func conjunction(_ predicate: ResolvedPredicate) -> [ResolvedPredicate] {
    if case .and(let parts) = predicate { return parts.flatMap(conjunction) }
    return [predicate]
  }

  private func compiled(
    _ entity: EntityDescription, _ write: (inout PostgresBuilder) throws(SQLCompilerError) -> String
  ) throws -> PostgresStatement? {
    var builder = PostgresBuilder(schema: tables.schema, entity: entity, storeIdentifier: tables.identifier)
    do {
      let sql = try write(&builder)
      return PostgresStatement(sql, builder.arguments)
    } catch SQLCompilerError.notInSQL {
      return nil
    }
  }

  private func table(_ entity: EntityDescription) -> String { SQLText.name(tables.schema.table(of: entity)) }

  private func kind(of path: ResolvedPath) -> PostgresColumnKind? {
    switch path.end {
    case .objectID(let entity): .reference(tables.scope(of: entity))
    case .entityName: .text
    case .composite: nil
    case .relationship(let relationship): .reference(tables.scope(of: relationship.destinationEntity))
    case .attribute(let attribute): PostgresColumnKind(attribute)
    }
  }

  // MARK: Rows and relationships

  /// Rows of one table, by their numbers.
  struct Rows {
    let reader: PostgresRowReader
    let entity: EntityDescription
    let numbers: [Int64]
    /// Whether they are locked against changes, in the order of their numbers.
    var isLocked = false
  }

  /// The rows with numbers, in any order.
  func rows(_ wanted: [Rows], _ connection: PostgresConnection) throws -> [StoreRow] {
    zip(wanted, try connection.queries(wanted.map(statement))).flatMap { wanted, rows in
      (0..<rows.count).compactMap { wanted.reader.row(rows, $0) }
    }
  }

  private func statement(_ rows: Rows) -> (text: String, parameters: [PostgresValue]) {
    let key = SQLText.name(rows.reader.selection[0])
    let start = "SELECT \(rows.reader.columns) FROM \(table(rows.entity)) WHERE \(key)"
    let end = rows.isLocked ? " ORDER BY \(key) FOR NO KEY UPDATE" : ""
    return rows.numbers.count == 1
      ? ("\(start) = $1\(end)", [.int(rows.numbers[0])])
      : ("\(start) = ANY ($1)\(end)", [.array(.int8, rows.numbers.map { .int($0) })])
  }

  /// The objects of a to-many relationship.
  func relatedIDs(
    of id: ManagedObjectID, _ relationship: RelationshipDescription, _ connection: PostgresConnection
  ) throws -> Value {
    // No relationship leads to another store.
    guard tables.holds(relationship.destinationEntity) else { return relationship.emptyValue }
    let reader = PostgresRowReader(try tables.layouts(of: relationship.destinationEntity), slots: [])
    guard let join = RelationshipJoin(relationship, columns: reader.selection, in: tables.schema) else {
      return relationship.emptyValue
    }
    let rows = try connection.query(
      "SELECT \(join.columns) FROM \(join.source) WHERE \(join.owner) = $1\(join.order)", [.int(id.number)])
    let ids = (0..<rows.count).compactMap { reader.id(rows, $0) }
    return relationship.isOrdered ? .orderedObjects(OrderedSet(ids)) : .objects(Set(ids))
  }
}
