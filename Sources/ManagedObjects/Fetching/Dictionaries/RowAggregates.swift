/// Collects the aggregates over rows while an expression of a dictionary fetch is bound: `sum:(price)`, where `price` is an
/// attribute of the rows and not of a collection. Each becomes an attribute that the expression then reads.
final class RowAggregates {
  /// The entity of those attributes, owned by the query.
  let entity = EntityDescription.ofColumns("aggregates")
  private(set) var found: [(attribute: AttributeDescription, aggregate: StoreQuery.RowAggregate)] = []

  /// Adds an aggregate of `element` over the rows. Returns an expression that reads its value.
  func note(
    _ function: ExpressionDescription.Aggregate, _ element: ResolvedExpression, isDistinct: Bool = false
  ) throws(FetchPredicateError) -> ResolvedExpression {
    guard !reads(element) else {
      throw .unsupported(part: "an aggregate of aggregates", hint: "\(function.rawValue) takes values of rows")
    }
    let aggregate = StoreQuery.RowAggregate(function: function, element: element, isDistinct: isDistinct)
    let attribute = AttributeDescription(
      aggregate.definition(name: "\(function.rawValue)(\(element.name))"), slot: found.count, entity: entity
    )
    found.append((attribute, aggregate))
    return .path(ResolvedPath(steps: [], end: .attribute(attribute)))
  }

  /// Whether an expression reads an aggregate.
  func reads(_ expression: ResolvedExpression) -> Bool { expression.paths.contains(where: isAggregate) }

  func isAggregate(_ path: ResolvedPath) -> Bool { path.attribute?.entity === entity }

  /// Removes and returns the aggregate if it is the whole expression; nil otherwise.
  func takeBack(_ expression: ResolvedExpression) -> StoreQuery.RowAggregate? {
    guard case .path(let path) = expression, let last = found.last, path.attribute === last.attribute else {
      return nil
    }
    return found.removeLast().aggregate
  }
}

extension ExpressionDescription.Aggregate {
  /// The function of the same name in the predicate language.
  var function: FetchPredicate.Function {
    switch self {
    case .count: return .count
    case .sum: return .sum
    case .average: return .average
    case .minimum: return .minimum
    case .maximum: return .maximum
    }
  }

  /// Nil for a function that isn't an aggregate.
  init?(_ function: FetchPredicate.Function) { self.init(rawValue: function.rawValue) }

  /// Whether the aggregate applies to values of this type.
  func takes(_ element: ResolvedExpression) -> Bool {
    switch self {
    case .count: return true
    case .sum, .average: return element.kind == .number
    case .minimum, .maximum: return element.kind?.isOrdered ?? false
    }
  }
}
