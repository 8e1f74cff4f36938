extension FetchPredicate {
  /// Binds the predicate to `entity`: finds its properties, gives constants their types, and checks that operators fit.
  ///
  /// - Throws: ``FetchPredicateError`` with what doesn't fit.
  package func resolved(in entity: EntityDescription) throws(FetchPredicateError) -> ResolvedPredicate {
    switch self {
    case .constant(let holds): return .constant(holds)
    case .not(let inner): return .not(try inner.resolved(in: entity))
    case .and(let parts): return .and(try Self.resolve(parts, in: entity))
    case .or(let parts): return .or(try Self.resolve(parts, in: entity))
    case .comparison(let comparison): return try ComparisonResolver(comparison, in: entity).resolve()
    }
  }

  private static func resolve(
    _ parts: [FetchPredicate], in entity: EntityDescription
  ) throws(FetchPredicateError) -> [ResolvedPredicate] {
    var resolved: [ResolvedPredicate] = []
    for part in parts { resolved.append(try part.resolved(in: entity)) }
    return resolved
  }
}

/// Resolves one comparison.
private struct ComparisonResolver {
  private let comparison: FetchPredicate.Comparison
  private let entity: EntityDescription

  private var name: String { comparison.operator.rawValue }

  init(_ comparison: FetchPredicate.Comparison, in entity: EntityDescription) {
    self.comparison = comparison
    self.entity = entity
  }

  func resolve() throws(FetchPredicateError) -> ResolvedPredicate {
    switch comparison.operator {
    case .equal: return try relation(.equal)
    case .notEqual: return try relation(.notEqual)
    case .less: return try relation(.less)
    case .lessOrEqual: return try relation(.lessOrEqual)
    case .greater: return try relation(.greater)
    case .greaterOrEqual: return try relation(.greaterOrEqual)
    case .isIn: return try membership()
    case .between: return try between()
    case .beginsWith: return try text(.beginsWith)
    case .endsWith: return try text(.endsWith)
    case .contains: return try text(.contains)
    case .like: return try like()
    case .matches:
      let (path, pattern) = try pathAndPattern()
      guard let path, let pattern else { return .constant(false) }
      return .matches(path, try WholeMatch(pattern, options: comparison.options))
    }
  }

  // MARK: Operands

  private func operand(_ expression: FetchPredicate.Expression) throws(FetchPredicateError) -> ResolvedOperand {
    switch expression {
    case .constant(let value): return .constant(value)
    case .constants(let values):
      throw .badOperand(operation: name, expected: "one value or a key path", found: "a list of \(values.count)")
    case .keyPath(let names): return .path(try ResolvedPath(names, in: entity))
    case .evaluatedObject: return .path(try ResolvedPath([], in: entity))
    }
  }

  /// The options, where strings are compared, and the constant as it is compared under them.
  private func folding(_ value: Value, _ options: FetchPredicate.Options) -> Value {
    guard case .string(let text) = value, !options.isEmpty else { return value }
    return .string(options.folded(text))
  }

  // MARK: Equal, less, greater

  private func relation(_ relation: ResolvedPredicate.Relation) throws(FetchPredicateError) -> ResolvedPredicate {
    switch (try operand(comparison.left), try operand(comparison.right)) {
    case (.path(let path), .constant(let value)): return try compare(path, relation, value)
    case (.constant(let value), .path(let path)): return try compare(path, relation.flipped, value)
    case (.path(let left), .path(let right)):
      guard left.kind == right.kind else {
        throw .differentKinds(left: "\(left.name), \(left.typeName),", right: "\(right.name), \(right.typeName)")
      }
      try check(relation, on: left)
      return .compare(left, relation, .path(right), left.kind == .string ? comparison.options : [])
    case (.constant(let left), .constant(let right)):
      let (a, b) = (folding(left, comparison.options), folding(right, comparison.options))
      if let first = ValueKind(a), let second = ValueKind(b), first != second {
        throw .differentKinds(left: first.rawValue, right: second.rawValue)
      }
      return .constant(relation.holds(between: a, and: b))
    }
  }

  private func check(_ relation: ResolvedPredicate.Relation, on path: ResolvedPath) throws(FetchPredicateError) {
    guard relation != .equal, relation != .notEqual else {
      guard path.kind != .opaque else {
        throw .notComparable(property: path.name, type: path.typeName, operation: name)
      }
      return
    }
    // Objects themselves are ordered by their numbers, as `SELF` sorts them.
    guard path.kind.isOrdered || path.isSelf else {
      throw .notComparable(property: path.name, type: path.typeName, operation: name)
    }
  }

  private func compare(
    _ path: ResolvedPath, _ relation: ResolvedPredicate.Relation, _ value: Value
  ) throws(FetchPredicateError) -> ResolvedPredicate {
    let options = path.kind == .string ? comparison.options : []
    let constant = folding(try ConstantCoercion(path: path).coerce(value), options)
    if constant.isNull {
      switch relation {
      case .equal, .notEqual: break
      case .less, .lessOrEqual, .greater, .greaterOrEqual: return .constant(false)
      }
    } else {
      try check(relation, on: path)
    }
    return .compare(path, relation, .constant(constant), options)
  }

  // MARK: Lists

  private func list() throws(FetchPredicateError) -> [Value] {
    guard case .constants(let values) = comparison.right else {
      throw .badOperand(operation: name, expected: "a list on its right", found: "\(comparison.right)")
    }
    return values
  }

  private func membership() throws(FetchPredicateError) -> ResolvedPredicate {
    let values = try list()
    switch try operand(comparison.left) {
    case .constant(let value):
      let folded = values.map { folding($0, comparison.options) }
      return .constant(ResolvedList(folded).contains(folding(value, comparison.options)))
    case .path(let path):
      let options = path.kind == .string ? comparison.options : []
      let coercion = ConstantCoercion(path: path)
      var coerced: [Value] = []
      coerced.reserveCapacity(values.count)
      for value in values { coerced.append(folding(try coercion.coerce(value), options)) }
      return .isIn(path, ResolvedList(coerced), options)
    }
  }

  private func between() throws(FetchPredicateError) -> ResolvedPredicate {
    let values = try list()
    guard values.count == 2 else {
      throw .badOperand(operation: name, expected: "two values", found: "\(values.count)")
    }
    switch try operand(comparison.left) {
    case .constant(let value):
      return .constant(
        ResolvedPredicate.Relation.greaterOrEqual.holds(between: value, and: values[0])
          && ResolvedPredicate.Relation.lessOrEqual.holds(between: value, and: values[1]))
    case .path(let path):
      return .and([try compare(path, .greaterOrEqual, values[0]), try compare(path, .lessOrEqual, values[1])])
    }
  }

  // MARK: Strings

  private func text(_ operation: ResolvedPredicate.TextOperator) throws(FetchPredicateError) -> ResolvedPredicate {
    let left = try textOperand(comparison.left)
    let right = try textOperand(comparison.right)
    if case .constant(let a) = left, case .constant(let b) = right {
      return .constant(operation.holds(of: a, and: b))
    }
    if left == .constant(.null) || right == .constant(.null) { return .constant(false) }
    return .text(left, operation, right, comparison.options)
  }

  private func textOperand(_ expression: FetchPredicate.Expression) throws(FetchPredicateError) -> ResolvedOperand {
    switch try operand(expression) {
    case .constant(let value):
      guard value.isNull || ValueKind(value) == .string else {
        throw .badOperand(operation: name, expected: "strings", found: "\(expression)")
      }
      return .constant(folding(value, comparison.options))
    case .path(let path):
      guard path.kind == .string else {
        throw .notComparable(property: path.name, type: path.typeName, operation: name)
      }
      return .path(path)
    }
  }

  /// The two sides of `LIKE` and `MATCHES`; nil for a side that is nil.
  private func pathAndPattern() throws(FetchPredicateError) -> (ResolvedPath?, String?) {
    guard case .path(let path) = try operand(comparison.left) else {
      throw .badOperand(operation: name, expected: "a key path on its left", found: "\(comparison.left)")
    }
    guard path.kind == .string else {
      throw .notComparable(property: path.name, type: path.typeName, operation: name)
    }
    switch comparison.right {
    case .constant(.string(let pattern)): return (path, pattern)
    case .constant(.null): return (path, nil)
    default: throw .badOperand(operation: name, expected: "a string as its pattern", found: "\(comparison.right)")
    }
  }

  private func like() throws(FetchPredicateError) -> ResolvedPredicate {
    let (path, source) = try pathAndPattern()
    guard let path, let source else { return .constant(false) }
    let options = comparison.options
    let pattern = LikePattern(options.folded(source))
    guard let plain = pattern.plain else { return .like(path, pattern, options) }
    let text = ResolvedOperand.constant(.string(plain.text))
    switch (plain.startsOpen, plain.endsOpen) {
    case (false, false) where pattern.source != "*": return .compare(path, .equal, text, options)
    case (false, true), (false, false): return .text(.path(path), .beginsWith, text, options)
    case (true, false): return .text(.path(path), plain.text.isEmpty ? .beginsWith : .endsWith, text, options)
    case (true, true): return .text(.path(path), .contains, text, options)
    }
  }
}
