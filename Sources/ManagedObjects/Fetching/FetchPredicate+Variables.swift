extension FetchPredicate {
  /// The predicate with values substituted for variables, `$name` in the format. Variables that aren't in `variables` stay,
  /// and so do those of subqueries.
  ///
  /// Source: `withSubstitutionVariables(_:)` of Core Data's `NSPredicate`.
  /// - Parameter variables: values by name without the dollar sign, of the types that ``PredicateArgument/init(_:)`` takes.
  /// - Throws: ``FetchPredicateError`` for a value of another type.
  public func withSubstitutionVariables(_ variables: [String: Any?]) throws(FetchPredicateError) -> FetchPredicate {
    var values: [String: Expression] = [:]
    for (name, any) in variables {
      switch PredicateArgument(any) {
      case .value(let value): values[name] = .constant(value)
      case .list(let list): values[name] = .constants(list)
      case nil:
        let type = any.map { String(describing: Swift.type(of: $0)) } ?? "nil"
        throw .badOperand(operation: "$\(name)", expected: "a value that a property can have", found: "a \(type)")
      }
    }
    return replacing { values[$0] }
  }

  /// The names of the variables without a value, except those that subqueries define.
  public var variables: Set<String> {
    var names: Set<String> = []
    _ = replacing { name in
      if !name.contains(".") { names.insert(name) }
      return nil
    }
    return names
  }

  /// The predicate with its variables replaced. `replacement` is asked for the longest name first, `person.city.name`, then
  /// for the variable itself.
  func replacing(_ replacement: (String) -> Expression?) -> FetchPredicate {
    switch self {
    case .constant: return self
    case .and(let parts): return .and(parts.map { $0.replacing(replacement) })
    case .or(let parts): return .or(parts.map { $0.replacing(replacement) })
    case .not(let inner): return .not(inner.replacing(replacement))
    case .comparison(var comparison):
      comparison.left = comparison.left.replacing(replacement)
      comparison.right = comparison.right.replacing(replacement)
      return .comparison(comparison)
    }
  }
}

extension FetchPredicate.Expression {
  fileprivate func replacing(_ replacement: (String) -> Self?) -> Self {
    switch self {
    case .constant, .constants, .keyPath, .evaluatedObject: return self
    case .variable(let name): return replacement(name) ?? self
    case .member(let base, let names):
      if case .variable(let name) = base, let whole = replacement(([name] + names).joined(separator: ".")) {
        return whole
      }
      return .member(of: base.replacing(replacement), names)
    case .function(let function, let arguments):
      return .function(function, arguments.map { $0.replacing(replacement) })
    case .cast(let inner, let type): return .cast(inner.replacing(replacement), to: type)
    case .element(let base, .at(let index)):
      return .element(of: base.replacing(replacement), at: .at(index.replacing(replacement)))
    case .element(let base, let index): return .element(of: base.replacing(replacement), at: index)
    case .list(let elements): return .list(elements.map { $0.replacing(replacement) })
    case .conditional(let predicate, let first, let second):
      return .conditional(
        predicate.replacing(replacement), then: first.replacing(replacement), otherwise: second.replacing(replacement))
    case .subquery(var subquery):
      subquery.collection = subquery.collection.replacing(replacement)
      let own = subquery.variable
      subquery.predicate = subquery.predicate.replacing { name in
        name == own || name.hasPrefix(own + ".") ? nil : replacement(name)
      }
      return .subquery(subquery)
    }
  }
}
