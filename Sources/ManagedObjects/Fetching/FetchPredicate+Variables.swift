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
    replacingLeaves { leaf in
      switch leaf {
      case .variable(let name): return replacement(name)
      case .member(.variable(let name), let names): return replacement(([name] + names).joined(separator: "."))
      default: return nil
      }
    }
  }

  /// The predicate with some of its key paths and variables replaced. `replacement` is asked for each key path, `SELF`, variable
  /// and path that starts at a variable, and returns nil for what stays. The variables of subqueries stay.
  func replacingLeaves<E>(_ replacement: (Expression) throws(E) -> Expression?) throws(E) -> FetchPredicate {
    switch self {
    case .constant: return self
    case .and(let parts): return .and(try parts.map { part throws(E) in try part.replacingLeaves(replacement) })
    case .or(let parts): return .or(try parts.map { part throws(E) in try part.replacingLeaves(replacement) })
    case .not(let inner): return .not(try inner.replacingLeaves(replacement))
    case .comparison(var comparison):
      comparison.left = try comparison.left.replacingLeaves(replacement)
      comparison.right = try comparison.right.replacingLeaves(replacement)
      return .comparison(comparison)
    }
  }
}

extension FetchPredicate.Expression {
  fileprivate func replacingLeaves<E>(_ replacement: (Self) throws(E) -> Self?) throws(E) -> Self {
    switch self {
    case .constant, .constants: return self
    case .variable, .keyPath, .evaluatedObject: return try replacement(self) ?? self
    case .member(let base, let names):
      if case .variable = base, let whole = try replacement(self) { return whole }
      return .member(of: try base.replacingLeaves(replacement), names)
    case .function(let function, let arguments): return .function(function, try Self.each(arguments, replacement))
    case .cast(let inner, let type): return .cast(try inner.replacingLeaves(replacement), to: type)
    case .element(let base, .at(let index)):
      return .element(
        of: try base.replacingLeaves(replacement), at: .at(try index.replacingLeaves(replacement)))
    case .element(let base, let index): return .element(of: try base.replacingLeaves(replacement), at: index)
    case .list(let elements): return .list(try Self.each(elements, replacement))
    case .conditional(let predicate, let first, let second):
      return .conditional(
        try predicate.replacingLeaves(replacement), then: try first.replacingLeaves(replacement),
        otherwise: try second.replacingLeaves(replacement))
    case .subquery(var subquery):
      subquery.collection = try subquery.collection.replacingLeaves(replacement)
      let own = Self.variable(subquery.variable)
      subquery.predicate = try subquery.predicate.replacingLeaves { leaf throws(E) in
        if leaf == own { return nil }
        if case .member(own, _) = leaf { return nil }
        return try replacement(leaf)
      }
      return .subquery(subquery)
    }
  }

  private static func each<E>(_ list: [Self], _ replacement: (Self) throws(E) -> Self?) throws(E) -> [Self] {
    try list.map { element throws(E) in try element.replacingLeaves(replacement) }
  }
}
