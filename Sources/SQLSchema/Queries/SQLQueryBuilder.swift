package import ManagedObjects

/// Builds one statement: its tables and parameters. What isn't the same in every database is its dialect's. Conditions must be generated in the order of the statement, because
/// parameters are numbered by position.
///
/// Tables belong to scopes: the first is the statement's own, and each subquery opens one while it is generated. A scope's number
/// is the origin of the paths that begin in it, so that a subquery's condition can refer to any enclosing query.
package struct SQLQueryBuilder<Dialect: SQLDialect> {
  /// The name of the fetched table in the statement; others are `t1`, `t2`, ….
  package static var root: String { SQLQueryRoot.name }

  /// The tables of one query.
  package struct Scope {
    /// The name of the table with the objects.
    package var alias: String
    package var entity: EntityDescription
    /// What follows in `FROM`.
    var tables: [String] = []
    /// The tables that were joined over to-one relationships.
    var aliases: [[RelationshipDescription]: String] = [:]
    /// The column with the objects' positions, if they have an order.
    var position: String?
  }

  package let schema: SchemaMap
  package let entity: EntityDescription
  package let storeIdentifier: String?
  package internal(set) var scopes: [Scope]
  package private(set) var arguments: [Dialect.Parameter] = []
  private var aliasCount = 0
  /// The SQL of attributes that aren't columns of a table: those of a dictionary.
  package private(set) var names: [AttributeDescription: String] = [:]
  /// The SQL of paths whose values another query has read.
  private var pathNames: [ResolvedPath: String] = [:]
  /// Decimals of which all rows are known to hold numbers, so that SQLite's order of them is that of decimals.
  package var numbers: Set<AttributeDescription> = []
  /// Whether columns whose values may be in files stand for these values, rather than for what is in the row.
  package var readsContent = true

  package init(schema: SchemaMap, entity: EntityDescription, storeIdentifier: String?) {
    self.schema = schema
    self.entity = entity
    self.storeIdentifier = storeIdentifier
    scopes = [Scope(alias: Self.root, entity: entity)]
  }

  /// The joins that the fetched table needs.
  package var joins: [String] { scopes[0].tables }

  /// The column that numbers the fetched rows.
  package var primaryKey: String { primaryKey(of: scopes[0]) }

  package func primaryKey(of scope: Scope) -> String {
    "\(scope.alias).\(SQLText.name(schema.primaryKeyColumn(of: scope.entity)))"
  }

  /// A name for one more table.
  package mutating func newAlias() -> String {
    aliasCount += 1
    return "t\(aliasCount)"
  }

  /// Generates SQL that comes later in the statement than the next part. Returns its parameters, for ``bindLater(_:)`` at its
  /// position.
  package mutating func ahead<T>(
    _ write: (inout SQLQueryBuilder) throws(SQLCompilerError) -> T
  ) throws(SQLCompilerError) -> (T, [Dialect.Parameter]) {
    let before = arguments
    arguments = []
    let written = try write(&self)
    let later = arguments
    arguments = before
    return (written, later)
  }

  package mutating func bindLater(_ values: [Dialect.Parameter]) { arguments += values }

  /// Adds a parameter's value. Returns its placeholder.
  @discardableResult
  package mutating func bind(_ value: Dialect.Parameter) -> String {
    arguments.append(value)
    return "?"
  }

  /// Excludes rows of other entities of the same table; nil if there are none.
  package func entityCondition(includesSubentities: Bool) -> String? {
    guard let column = schema.discriminatorColumn(of: entity) else { return nil }
    if includesSubentities, entity.rootEntity === entity { return nil }
    let names = (includesSubentities ? entity.selfAndDescendants : [entity]).map(schema.entityLiteral)
    let name = "\(Self.root).\(SQLText.name(column))"
    return names.count == 1 ? "\(name) = \(names[0])" : "\(name) IN (\(names.joined(separator: ", ")))"
  }

  /// Sets the SQL of an attribute that isn't a column of a table.
  package mutating func name(_ attribute: AttributeDescription, _ text: String) { names[attribute] = text }

  /// Sets the SQL of the values at a path.
  package mutating func name(_ path: ResolvedPath, _ text: String) { pathNames[path] = text }

  /// The limit and offset; nil without either.
  package mutating func page(_ fetch: StoreFetch) -> String? {
    guard fetch.limit > 0 || fetch.offset > 0 else { return nil }
    guard fetch.limit > 0 || Dialect.requiresLimit else {
      bind(Dialect.parameter(Int64(fetch.offset)))
      return " OFFSET ?"
    }
    bind(Dialect.parameter(Int64(fetch.limit > 0 ? fetch.limit : -1)))
    guard fetch.offset > 0 else { return " LIMIT ?" }
    bind(Dialect.parameter(Int64(fetch.offset)))
    return " LIMIT ? OFFSET ?"
  }

  /// The column that a path leads to.
  package mutating func column(_ path: ResolvedPath) throws(SQLCompilerError) -> String {
    if !pathNames.isEmpty, let name = pathNames[path] { return name }
    if leadElsewhere(path.steps) { return "NULL" }
    switch path.end {
    case .objectID:
      return primaryKey(of: scopes[path.origin])
    case .relationship(let relationship):
      return try column(of: relationship, after: path.steps, from: path.origin)
    case .entityName(let entity):
      return try entityName(entity, after: path.steps, from: path.origin)
    case .composite(let composite):
      throw .notStored(entity: entity.name, property: composite.name)
    case .attribute(let attribute):
      if !names.isEmpty, let name = names[attribute] { return name }
      // The primary key of the other end is the foreign key on this side.
      if let last = path.steps.last, attribute === last.destinationEntity.primaryKey {
        return try column(of: last, after: Array(path.steps.dropLast()), from: path.origin)
      }
      return try column(of: attribute, after: path.steps, from: path.origin)
    }
  }

  private mutating func entityName(
    _ entity: EntityDescription, after steps: [RelationshipDescription], from origin: Int
  ) throws(SQLCompilerError) -> String {
    let alias = try alias(steps, from: origin)
    if let column = schema.discriminatorColumn(of: entity) {
      let mark = "\(alias).\(SQLText.name(column))"
      guard schema.forms == .coreData else { return mark }
      let names = entity.rootEntity.selfAndDescendants.map {
        "WHEN \(schema.entityLiteral(of: $0)) THEN \(SQLText.literal($0.name))"
      }
      return "CASE \(mark) \(names.joined(separator: " ")) END"
    }
    let key = "\(alias).\(SQLText.name(schema.primaryKeyColumn(of: entity)))"
    return "CASE WHEN \(key) IS NOT NULL THEN \(SQLText.literal(entity.name)) END"
  }

  package mutating func column(
    of property: PropertyDescription, after steps: [RelationshipDescription], from origin: Int
  ) throws(SQLCompilerError) -> String {
    let alias = try alias(steps, from: origin)
    guard let name = schema.columnIfStored(of: property, in: property.entity) else {
      throw .notStored(entity: property.entity.name, property: property.name)
    }
    let column = "\(alias).\(SQLText.name(name))"
    guard let attribute = property as? AttributeDescription else { return column }
    return Dialect.content(of: attribute, column, self)
  }

  /// The name of the table that `steps` lead to; joined the first time.
  private mutating func alias(
    _ steps: [RelationshipDescription], from origin: Int
  ) throws(SQLCompilerError) -> String {
    guard let last = steps.last else { return scopes[origin].alias }
    if let known = scopes[origin].aliases[steps] { return known }
    let foreignKey = try column(of: last, after: Array(steps.dropLast()), from: origin)
    let table = table(at: last)
    let alias = newAlias()
    let key = SQLText.name(schema.primaryKeyColumn(of: last.destinationEntity))
    scopes[origin].tables.append("LEFT JOIN \(table) AS \(alias) ON \(alias).\(key) = \(foreignKey)")
    scopes[origin].aliases[steps] = alias
    return alias
  }

  /// The table at the other end of a relationship that doesn't lead elsewhere.
  package func table(at relationship: RelationshipDescription) -> String {
    SQLText.name(schema.table(of: relationship.destinationEntity))
  }

  /// Whether relationships lead to an entity that another store holds. They are then empty, because no relationship leads from
  /// store to store.
  package func leadElsewhere(_ steps: [RelationshipDescription]) -> Bool {
    steps.contains { !schema.holds($0.destinationEntity) }
  }

  /// One term of `ORDER BY`.
  package mutating func term(_ sort: ResolvedSort) throws(SQLCompilerError) -> String {
    try Dialect.term(sort, &self)
  }

  /// The expression in the form of computed values.
  package mutating func expression(_ expression: ResolvedExpression) throws(SQLCompilerError) -> String {
    try Dialect.expression(expression, &self)
  }
}

/// The name of the fetched table in every statement.
enum SQLQueryRoot {
  static let name = "t0"
}
