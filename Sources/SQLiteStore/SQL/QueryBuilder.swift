import Foundation
import GRDB
import ManagedObjects

/// Builds one statement: its tables and parameters. Conditions must be generated in the order of the statement, because
/// parameters are numbered by position.
///
/// Tables belong to scopes: the first is the statement's own, and each subquery opens one while it is generated. A scope's number
/// is the origin of the paths that begin in it, so that a subquery's condition can refer to any enclosing query.
struct QueryBuilder {
  /// The name of the fetched table in the statement; others are `t1`, `t2`, ….
  static let root = "t0"

  /// The tables of one query.
  struct Scope {
    /// The name of the table with the objects.
    var alias: String
    var entity: EntityDescription
    /// What follows in `FROM`.
    var tables: [String] = []
    /// The tables that were joined over to-one relationships.
    var aliases: [[RelationshipDescription]: String] = [:]
    /// The column with the objects' positions, if they have an order.
    var position: String?
  }

  let schema: SchemaMap
  let entity: EntityDescription
  let storeIdentifier: String?
  var scopes: [Scope]
  private(set) var arguments: [DatabaseValue] = []
  private var aliasCount = 0
  /// The SQL of attributes that aren't columns of a table: those of a dictionary.
  private(set) var names: [AttributeDescription: String] = [:]
  /// The SQL of paths whose values another query has read.
  private var pathNames: [ResolvedPath: String] = [:]
  /// Decimals of which all rows are known to hold numbers, so that SQLite's order of them is that of decimals.
  var numbers: Set<AttributeDescription> = []
  /// Whether columns whose values may be in files stand for these values, rather than for what is in the row.
  var readsContent = true

  init(schema: SchemaMap, entity: EntityDescription, storeIdentifier: String?) {
    self.schema = schema
    self.entity = entity
    self.storeIdentifier = storeIdentifier
    scopes = [Scope(alias: Self.root, entity: entity)]
  }

  /// The joins that the fetched table needs.
  var joins: [String] { scopes[0].tables }

  /// The column that numbers the fetched rows.
  var primaryKey: String { primaryKey(of: scopes[0]) }

  func primaryKey(of scope: Scope) -> String {
    "\(scope.alias).\(SQLText.name(schema.primaryKeyColumn(of: scope.entity)))"
  }

  /// A name for one more table.
  mutating func newAlias() -> String {
    aliasCount += 1
    return "t\(aliasCount)"
  }

  /// Generates SQL that comes later in the statement than the next part. Returns its parameters, for ``bindLater(_:)`` at its
  /// position.
  mutating func ahead<T>(
    _ write: (inout QueryBuilder) throws(SQLCompilerError) -> T
  ) throws(SQLCompilerError) -> (T, [DatabaseValue]) {
    let before = arguments
    arguments = []
    let written = try write(&self)
    let later = arguments
    arguments = before
    return (written, later)
  }

  mutating func bindLater(_ values: [DatabaseValue]) { arguments += values }

  /// Adds a parameter's value. Returns its placeholder.
  @discardableResult
  mutating func bind(_ value: DatabaseValue) -> String {
    arguments.append(value)
    return "?"
  }

  /// Excludes rows of other entities of the same table; nil if there are none.
  func entityCondition(includesSubentities: Bool) -> String? {
    guard let column = schema.discriminatorColumn(of: entity) else { return nil }
    if includesSubentities, entity.rootEntity === entity { return nil }
    let names = (includesSubentities ? entity.selfAndDescendants : [entity]).map(schema.entityLiteral)
    let name = "\(Self.root).\(SQLText.name(column))"
    return names.count == 1 ? "\(name) = \(names[0])" : "\(name) IN (\(names.joined(separator: ", ")))"
  }

  /// Sets the SQL of an attribute that isn't a column of a table.
  mutating func name(_ attribute: AttributeDescription, _ text: String) { names[attribute] = text }

  /// Sets the SQL of the values at a path.
  mutating func name(_ path: ResolvedPath, _ text: String) { pathNames[path] = text }

  /// The limit and offset; nil without either.
  mutating func page(_ fetch: StoreFetch) -> String? {
    guard fetch.limit > 0 || fetch.offset > 0 else { return nil }
    bind(Int64(fetch.limit > 0 ? fetch.limit : -1).databaseValue)
    guard fetch.offset > 0 else { return " LIMIT ?" }
    bind(Int64(fetch.offset).databaseValue)
    return " LIMIT ? OFFSET ?"
  }

  /// The column that a path leads to.
  mutating func column(_ path: ResolvedPath) throws(SQLCompilerError) -> String {
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

  mutating func column(
    of property: PropertyDescription, after steps: [RelationshipDescription], from origin: Int
  ) throws(SQLCompilerError) -> String {
    let alias = try alias(steps, from: origin)
    guard let name = schema.columnIfStored(of: property, in: property.entity) else {
      throw .notStored(entity: property.entity.name, property: property.name)
    }
    let column = "\(alias).\(SQLText.name(name))"
    if readsContent, (property as? AttributeDescription)?.allowsFiles == true {
      return schema.forms.contentTerm(column)
    }
    guard schema.forms == .coreData, (property as? AttributeDescription)?.type == .decimal else { return column }
    return "lade_rounded_decimal(\(column))"
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
  func table(at relationship: RelationshipDescription) -> String {
    SQLText.name(schema.table(of: relationship.destinationEntity))
  }

  /// Whether relationships lead to an entity that another store holds. They are then empty, because no relationship leads from
  /// store to store.
  func leadElsewhere(_ steps: [RelationshipDescription]) -> Bool {
    steps.contains { !schema.holds($0.destinationEntity) }
  }

  /// One term of `ORDER BY`.
  mutating func term(_ sort: ResolvedSort) throws(SQLCompilerError) -> String {
    var expression = try column(sort.path)
    if let collation = sort.comparison.collation {
      expression = "lade_sort_key(\(expression), \(collation.rawValue))"
    } else if sort.comparison == .caseInsensitive {
      expression = "lade_fold(\(expression), \(FetchPredicate.Options.caseInsensitive.rawValue))"
    } else if sort.path.isDecimal, !numbers.contains(where: { $0 === sort.path.attribute }) {
      expression = "lade_decimal_key(\(expression))"
    }
    return expression + (sort.ascending ? "" : " DESC")
  }
}

extension ResolvedPath {
  var isDecimal: Bool { attribute?.type == .decimal }
}

/// Expressions as SQL. A computed value has one form for each kind, whatever columns it comes from:
/// - number: as it is stored, decimals included (see ``ValueCodec``); boolean 0 or 1;
/// - date: whole microseconds since 1970;
/// - string, URI, UUID, data, object: as stored.
extension QueryBuilder {
  /// The expression in that form.
  mutating func expression(_ expression: ResolvedExpression) throws(SQLCompilerError) -> String {
    switch expression {
    case .constant(let value): return bind(computedValue(of: value))
    case .path(let path):
      let column = try column(path)
      return schema.forms.computedTerm(column, path.kind)
    case .call(let function, let arguments): return try call(function, arguments, expression)
    case .cast(let inner, let type):
      let kind = ComputedValue.letter(of: inner)
      return "lade_cast(\(SQLText.literal(type.rawValue)), '\(kind)', \(try self.expression(inner)))"
    case .aggregate(let function, let collection, let value): return try aggregate(function, collection, value)
    case .element(let collection, let index, let value): return try element(collection, index, value)
    case .conditional(let predicate, let first, let second):
      let condition = try condition(predicate)
      let text = try self.expression(first)
      return "CASE WHEN \(condition) THEN \(text) ELSE \(try self.expression(second)) END"
    }
  }

  private mutating func call(
    _ function: FetchPredicate.Function, _ arguments: [ResolvedExpression], _ whole: ResolvedExpression
  ) throws(SQLCompilerError) -> String {
    var texts: [String] = []
    // SQLite's own arithmetic is that of this library, decimals and dates aside.
    let isNative = !whole.isDecimal && whole.kind == .number && arguments.allSatisfy { $0.kind == .number }
    for argument in arguments { texts.append(try expression(argument)) }
    switch function {
    case .add, .subtract, .multiply, .divide:
      if isNative { return "(\(texts.joined(separator: " \(function.sqlOperator) ")))" }
    case .negate: if isNative { return "(- \(texts[0]))" }
    default: break
    }
    let kinds = arguments.map(ComputedValue.letter).joined()
    let list = ([SQLText.literal(function.rawValue), "'\(kinds)'"] + texts).joined(separator: ", ")
    return "lade_call(\(list))"
  }

  /// A constant in the form of computed values. An ID that is temporary or another store's becomes a text, which equals no
  /// row's number.
  func computedValue(of value: Value) -> DatabaseValue {
    if case .object(let id) = value {
      let isElsewhere = id.isTemporaryID || (storeIdentifier != nil && id.storeIdentifier != storeIdentifier)
      return isElsewhere ? "elsewhere".databaseValue : id.number.databaseValue
    }
    return ComputedValue.databaseValue(of: value)
  }
}

extension FetchPredicate.Function {
  fileprivate var sqlOperator: String {
    switch self {
    case .add: return "+"
    case .subtract: return "-"
    case .multiply: return "*"
    default: return "/"
    }
  }
}
