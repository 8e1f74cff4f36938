package import ManagedObjects

/// Collections as subqueries. `ANY tags.label == 'x'` becomes
///
///     EXISTS (SELECT 1 FROM "City_tags" AS t1 JOIN "Tag" AS t2 ON t2."id" = t1."Tag_id"
///     WHERE t1."City_id" = t0."id" AND t2."label" = ?)
extension SQLQueryBuilder {
  /// Whether there is an object in the collection for which the predicate holds.
  package mutating func exists(
    _ collection: ResolvedCollection, _ predicate: ResolvedPredicate
  ) throws(SQLCompilerError) -> String {
    if leadElsewhere(collection.start + collection.steps) { return Dialect.nothing }
    var conditions = try open(collection)
    conditions.append(try condition(predicate))
    return "EXISTS (SELECT 1\(close(conditions)))"
  }

  /// An aggregate of a value of each object in the collection; the number of objects, if there is no value.
  package mutating func aggregate(
    _ function: FetchPredicate.Function, _ collection: ResolvedCollection, _ value: ResolvedExpression?
  ) throws(SQLCompilerError) -> String {
    if leadElsewhere(collection.start + collection.steps) {
      return try expression(.constant(value == nil ? .int(0) : Aggregation.value(function, of: [])))
    }
    let (conditions, later) = try ahead { builder throws(SQLCompilerError) in try builder.open(collection) }
    let key = primaryKey(of: scopes[collection.number])
    // Over one relationship each object occurs once.
    let isOnce = collection.steps.count == 1
    guard let value else {
      bindLater(later)
      return "(SELECT COUNT(\(isOnce ? "*" : "DISTINCT \(key)"))\(close(conditions)))"
    }
    let list: String
    if collection.isDistinct {
      list = "DISTINCT \(try expression(value)) AS v"
    } else if isOnce {
      list = try Dialect.aggregate(function, of: value, try expression(value))
    } else {
      list = "DISTINCT \(key), \(try expression(value)) AS v"
    }
    bindLater(later)
    let query = "SELECT \(list)\(close(conditions))"
    return isOnce && !collection.isDistinct
      ? "(\(query))" : "(SELECT \(try Dialect.aggregate(function, of: value, "v")) FROM (\(query)) AS collected)"
  }

  /// A value of one object in an ordered collection.
  package mutating func element(
    _ collection: ResolvedCollection, _ index: ResolvedIndex, _ value: ResolvedExpression
  ) throws(SQLCompilerError) -> String {
    let (conditions, later) = try ahead { builder throws(SQLCompilerError) in try builder.open(collection) }
    let scope = scopes[collection.number]
    let terms = (scope.position.map { ["\($0) IS NULL", $0] } ?? []) + [primaryKey(of: scope)]
    let text = try expression(value)
    bindLater(later)
    let query = "SELECT \(text)\(close(conditions)) ORDER BY "
    switch index {
    case .last: return "(\(query)\(terms.map { $0 + " DESC" }.joined(separator: ", ")) LIMIT 1)"
    case .at(let place) where place < 0: return "(\(query)1 LIMIT 0)"
    case .at(let place): return "(\(query)\(terms.joined(separator: ", ")) LIMIT 1 OFFSET \(place))"
    }
  }

  /// Opens the scope of a collection's objects. Returns the conditions on them.
  private mutating func open(_ collection: ResolvedCollection) throws(SQLCompilerError) -> [String] {
    precondition(scopes.count == collection.number, "a collection is written outside those that enclose it")
    var owner: String
    if let last = collection.start.last {
      owner = try column(of: last, after: Array(collection.start.dropLast()), from: collection.origin)
    } else {
      owner = primaryKey(of: scopes[collection.origin])
    }
    var scope = Scope(alias: "", entity: collection.entity)
    var conditions: [String] = []
    for link in collection.links {
      switch link {
      case .step(let relationship):
        let table = table(at: relationship)
        var pairs = ""
        if relationship.isManyToMany {
          let pairing = schema.pairing(of: relationship)
          pairs = newAlias()
          let condition = "\(pairs).\(SQLText.name(pairing.sourceColumn)) = \(owner)"
          join(SQLText.name(pairing.table), pairs, condition, &scope, &conditions)
          owner = "\(pairs).\(SQLText.name(pairing.destinationColumn))"
        }
        let alias = newAlias()
        scope.position = schema.ordering(of: relationship).map { ordering in
          "\(relationship.isManyToMany ? pairs : alias).\(SQLText.name(ordering.positionColumn))"
        }
        let condition = try tie(relationship, owner, scope.alias, alias)
        join(table, alias, condition, &scope, &conditions)
        scope.alias = alias
        scope.entity = relationship.destinationEntity
        scope.aliases = [:]
        owner = primaryKey(of: scope)
      case .filter(let predicate):
        scopes.append(scope)
        conditions.append(try condition(predicate))
        scope = scopes.removeLast()
      }
    }
    scopes.append(scope)
    return conditions
  }

  /// The join condition between the rows of `alias` and `owner`, which is the primary key of `former` or the end of a pair.
  private func tie(
    _ relationship: RelationshipDescription, _ owner: String, _ former: String, _ alias: String
  ) throws(SQLCompilerError) -> String {
    let key = "\(alias).\(SQLText.name(schema.primaryKeyColumn(of: relationship.destinationEntity)))"
    if relationship.isManyToMany { return "\(key) = \(owner)" }
    let property: PropertyDescription =
      relationship.isToMany ? relationship.inverseRelationship ?? relationship : relationship
    guard let column = schema.columnIfStored(of: property, in: property.entity) else {
      throw .notStored(entity: relationship.entity.name, property: relationship.name)
    }
    return relationship.isToMany
      ? "\(alias).\(SQLText.name(column)) = \(owner)" : "\(key) = \(former).\(SQLText.name(column))"
  }

  /// The first table is joined by a condition of the query, the others by `JOIN`.
  private func join(
    _ table: String, _ alias: String, _ condition: String, _ scope: inout Scope, _ conditions: inout [String]
  ) {
    if scope.tables.isEmpty {
      scope.tables.append("\(table) AS \(alias)")
      conditions.append(condition)
    } else {
      scope.tables.append("JOIN \(table) AS \(alias) ON \(condition)")
    }
  }

  /// Closes the scope that was opened last. Returns its `FROM` and `WHERE`.
  private mutating func close(_ conditions: [String]) -> String {
    let scope = scopes.removeLast()
    return " FROM \(scope.tables.joined(separator: " ")) WHERE \(conditions.joined(separator: " AND "))"
  }
}
