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
      try builder.query(list(reader), fetch, isOrdered: true)
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

  /// Selects columns of rows; nil when they are computed, or the predicate or order can't be SQL.
  func dictionaries(_ query: StoreQuery) throws -> (statement: PostgresStatement, kinds: [PostgresColumnKind])? {
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
      ?? PostgresStatement("SELECT \(list(reader)) FROM \(table(fetch.entity)) AS t0", [])
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

  private func list(_ reader: PostgresRowReader) -> String {
    reader.selection.map { "\(PostgresBuilder.root).\(SQLText.name($0))" }.joined(separator: ", ")
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

  /// The rows with numbers, in any order.
  func rows(
    _ reader: PostgresRowReader, _ entity: EntityDescription, _ numbers: [Int64], _ connection: PostgresConnection,
    lock: String = ""
  ) throws -> [StoreRow] {
    let columns = reader.selection.map(SQLText.name).joined(separator: ", ")
    let start = "SELECT \(columns) FROM \(table(entity)) WHERE \(SQLText.name(reader.selection[0]))"
    let rows =
      numbers.count == 1
      ? try connection.query("\(start) = $1\(lock)", [.int(numbers[0])])
      : try connection.query("\(start) = ANY ($1)\(lock)", [.array(.int8, numbers.map { .int($0) })])
    return (0..<rows.count).compactMap { reader.row(rows, $0) }
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
