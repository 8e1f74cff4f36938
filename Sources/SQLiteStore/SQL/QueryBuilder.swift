import GRDB
import ManagedObjects

/// One statement while it is written: its joins and parameters. Conditions must be written in the order in which they
/// stand in the statement, for parameters are numbered by their place.
struct QueryBuilder {
  /// The name of the fetched table in the statement; joined ones are `t1`, `t2`, ….
  static let root = "t0"

  let schema: SchemaMap
  let entity: EntityDescription
  let storeIdentifier: String?
  private(set) var joins: [String] = []
  private(set) var arguments: [DatabaseValue] = []
  private var aliases: [[RelationshipDescription]: String] = [:]
  /// What stands for attributes that aren't columns of a table: those of a dictionary.
  private(set) var names: [AttributeDescription: String] = [:]

  init(schema: SchemaMap, entity: EntityDescription, storeIdentifier: String?) {
    self.schema = schema
    self.entity = entity
    self.storeIdentifier = storeIdentifier
  }

  /// The column that numbers the fetched rows.
  var primaryKey: String { "\(Self.root).\(SQLText.name(schema.primaryKeyColumn(of: entity)))" }

  /// Adds a parameter's value. Returns the mark that stands for it.
  @discardableResult
  mutating func bind(_ value: DatabaseValue) -> String {
    arguments.append(value)
    return "?"
  }

  /// Keeps rows of other entities of the same table out; nil if there are none to keep out.
  func entityCondition(includesSubentities: Bool) -> String? {
    guard let column = schema.discriminatorColumn(of: entity) else { return nil }
    if includesSubentities, entity.rootEntity === entity { return nil }
    let names = (includesSubentities ? entity.selfAndDescendants : [entity]).map { SQLText.literal($0.name) }
    let name = "\(Self.root).\(SQLText.name(column))"
    return names.count == 1 ? "\(name) = \(names[0])" : "\(name) IN (\(names.joined(separator: ", ")))"
  }

  /// Says what stands for an attribute that isn't a column of a table.
  mutating func name(_ attribute: AttributeDescription, _ text: String) { names[attribute] = text }

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
    switch path.end {
    case .objectID:
      return primaryKey
    case .relationship(let relationship):
      return try column(of: relationship, after: path.steps)
    case .attribute(let attribute):
      if !names.isEmpty, let name = names[attribute] { return name }
      // What numbers the rows over there stands on this side as the foreign key.
      if let last = path.steps.last, attribute === last.destinationEntity.primaryKey {
        return try column(of: last, after: Array(path.steps.dropLast()))
      }
      return try column(of: attribute, after: path.steps)
    }
  }

  private mutating func column(
    of property: PropertyDescription, after steps: [RelationshipDescription]
  ) throws(SQLCompilerError) -> String {
    let alias = try alias(steps)
    guard let name = schema.columnIfStored(of: property, in: property.entity) else {
      throw .notStored(entity: property.entity.name, property: property.name)
    }
    return "\(alias).\(SQLText.name(name))"
  }

  /// The name of the table that `steps` lead to; joined the first time.
  private mutating func alias(_ steps: [RelationshipDescription]) throws(SQLCompilerError) -> String {
    guard let last = steps.last else { return Self.root }
    if let known = aliases[steps] { return known }
    let foreignKey = try column(of: last, after: Array(steps.dropLast()))
    guard schema.holds(last.destinationEntity) else {
      throw .otherStore(entity: last.entity.name, relationship: last.name)
    }
    let alias = "t\(joins.count + 1)"
    let key = SQLText.name(schema.primaryKeyColumn(of: last.destinationEntity))
    joins.append(
      "LEFT JOIN \(SQLText.name(schema.table(of: last.destinationEntity))) AS \(alias) ON \(alias).\(key) = \(foreignKey)"
    )
    aliases[steps] = alias
    return alias
  }

  /// One term of `ORDER BY`.
  mutating func term(_ sort: ResolvedSort) throws(SQLCompilerError) -> String {
    var expression = try column(sort.path)
    if !sort.options.isEmpty {
      expression = "lade_fold(\(expression), \(sort.options.rawValue))"
    } else if sort.path.isDecimal {
      expression = "lade_decimal_key(\(expression))"
    }
    return expression + (sort.ascending ? "" : " DESC")
  }
}

extension ResolvedPath {
  var attribute: AttributeDescription? {
    if case .attribute(let attribute) = end { return attribute }
    return nil
  }

  var isDecimal: Bool { attribute?.type == .decimal }
}
