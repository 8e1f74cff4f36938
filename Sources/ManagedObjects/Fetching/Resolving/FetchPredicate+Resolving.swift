extension FetchPredicate {
  /// Binds the predicate to `entity`: finds its properties, gives constants their types, and checks that operators fit.
  ///
  /// - Throws: ``FetchPredicateError`` that names what doesn't fit.
  package func resolved(in entity: EntityDescription) throws(FetchPredicateError) -> ResolvedPredicate {
    try PredicateResolver(entity).predicate(self)
  }
}

extension FetchPredicate.Expression {
  /// Binds the expression to `entity`; see ``FetchPredicate/resolved(in:)``.
  ///
  /// - Throws: ``FetchPredicateError`` with what doesn't fit, or when the expression is a list or collection.
  package func resolved(in entity: EntityDescription) throws(FetchPredicateError) -> ResolvedExpression {
    try PredicateResolver(entity).value(self)
  }
}

/// Binds predicates and expressions to an entity, and inside subqueries to the entities of their variables.
struct PredicateResolver {
  /// The shape of an expression.
  enum Operand {
    case value(ResolvedExpression)
    case values([Value])
    case list([ResolvedExpression])
    /// A collection, and the value to take from each of its objects.
    case collection(ResolvedCollection, ResolvedExpression)
  }

  /// The entity of `SELF`.
  let entity: EntityDescription
  /// The variables of enclosing subqueries, with the numbers of their collections.
  private(set) var variables: [String: (origin: Int, entity: EntityDescription)] = [:]
  /// The number of enclosing collections; the next collection's number is one more.
  private(set) var depth = 0

  /// Collects the aggregates over rows in a dictionary fetch with groups; nil without groups.
  let rowAggregates: RowAggregates?

  init(_ entity: EntityDescription, rowAggregates: RowAggregates? = nil) {
    self.entity = entity
    self.rowAggregates = rowAggregates
  }

  /// The resolver for the inside of another collection.
  var deeper: PredicateResolver {
    var inner = self
    inner.depth += 1
    return inner
  }

  /// The resolver for the inside of a collection whose objects are called `$variable`.
  func binding(_ variable: String, _ entity: EntityDescription) -> PredicateResolver {
    var inner = deeper
    inner.variables[variable] = (inner.depth, entity)
    return inner
  }

  func predicate(_ predicate: FetchPredicate) throws(FetchPredicateError) -> ResolvedPredicate {
    switch predicate {
    case .constant(let holds): return .constant(holds)
    case .not(let inner): return .not(try self.predicate(inner))
    case .and(let parts): return .and(try predicates(parts))
    case .or(let parts): return .or(try predicates(parts))
    case .comparison(let comparison): return try ComparisonResolver(comparison, in: self).resolve()
    }
  }

  private func predicates(_ parts: [FetchPredicate]) throws(FetchPredicateError) -> [ResolvedPredicate] {
    var resolved: [ResolvedPredicate] = []
    resolved.reserveCapacity(parts.count)
    for part in parts { resolved.append(try predicate(part)) }
    return resolved
  }

  /// The expression as one value.
  func value(
    _ expression: FetchPredicate.Expression, of operation: String = "an expression"
  ) throws(FetchPredicateError) -> ResolvedExpression {
    switch try operand(expression) {
    case .value(let value): return value
    case .values(let values):
      throw .badOperand(
        operation: operation, expected: "one value or a key path", found: "a list of \(values.count)")
    case .list(let list):
      throw .badOperand(operation: operation, expected: "one value or a key path", found: "a list of \(list.count)")
    case .collection(let collection, _):
      guard let relationship = collection.steps.last else { return .constant(.null) }
      throw .notTraversable(
        path: "\(expression)", name: relationship.name, entity: relationship.entity.name, isToMany: true)
    }
  }
}
