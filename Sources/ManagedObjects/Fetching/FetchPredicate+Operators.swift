extension FetchPredicate {
  /// Whether the predicate uses this operator at any depth.
  package func uses(_ wanted: Operator) -> Bool {
    switch self {
    case .constant: false
    case .and(let parts), .or(let parts): parts.contains { $0.uses(wanted) }
    case .not(let inner): inner.uses(wanted)
    case .comparison(let comparison):
      comparison.operator == wanted || comparison.left.uses(wanted) || comparison.right.uses(wanted)
    }
  }
}

extension FetchPredicate.Expression {
  fileprivate func uses(_ wanted: FetchPredicate.Operator) -> Bool {
    switch self {
    case .constant, .constants, .keyPath, .evaluatedObject, .variable: false
    case .member(let base, _): base.uses(wanted)
    case .function(_, let arguments): arguments.contains { $0.uses(wanted) }
    case .cast(let inner, _): inner.uses(wanted)
    case .element(let base, .at(let index)): base.uses(wanted) || index.uses(wanted)
    case .element(let base, _): base.uses(wanted)
    case .list(let elements): elements.contains { $0.uses(wanted) }
    case .conditional(let predicate, let first, let second):
      predicate.uses(wanted) || first.uses(wanted) || second.uses(wanted)
    case .subquery(let subquery): subquery.collection.uses(wanted) || subquery.predicate.uses(wanted)
    }
  }
}
