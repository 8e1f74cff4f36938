/// Resolves one comparison.
struct ComparisonResolver {
  private let comparison: FetchPredicate.Comparison
  private let resolver: PredicateResolver
  private let options: FetchPredicate.Options

  private var name: String { comparison.operator.rawValue }

  init(_ comparison: FetchPredicate.Comparison, in resolver: PredicateResolver) {
    self.comparison = comparison
    self.resolver = resolver
    options = comparison.options.contains(.normalized) ? [] : comparison.options
  }

  func resolve() throws(FetchPredicateError) -> ResolvedPredicate {
    if comparison.modifier != .direct { return try quantified() }
    switch comparison.operator {
    case .isIn:
      // The left operand is resolved inside the collection that it is compared with.
      if case .collection(let collection, let element) = try resolver.operand(comparison.right) {
        return .exists(collection, try inside.relation(element, .equal, inside.value(comparison.left)))
      }
    case .contains:
      switch try resolver.operand(comparison.left) {
      case .collection(let collection, let element):
        return .exists(collection, try inside.relation(element, .equal, inside.value(comparison.right)))
      case .values, .list: return try membership(value(comparison.right), comparison.left)
      case .value: break
      }
    default: break
    }
    return try compare(value(comparison.left))
  }

  /// The comparison inside one more collection.
  private var inside: ComparisonResolver { ComparisonResolver(comparison, in: resolver.deeper) }

  private func quantified() throws(FetchPredicateError) -> ResolvedPredicate {
    guard case .collection(let collection, let element) = try resolver.operand(comparison.left) else {
      throw .badOperand(
        operation: comparison.modifier.rawValue, expected: "a to-many relationship on the left",
        found: "\(comparison.left)")
    }
    let condition = try inside.compare(element)
    return comparison.modifier == .any
      ? .exists(collection, condition) : .not(.exists(collection, .not(condition)))
  }

  private func compare(_ left: ResolvedExpression) throws(FetchPredicateError) -> ResolvedPredicate {
    switch comparison.operator {
    case .equal: return try relation(left, .equal, value(comparison.right))
    case .notEqual: return try relation(left, .notEqual, value(comparison.right))
    case .less: return try relation(left, .less, value(comparison.right))
    case .lessOrEqual: return try relation(left, .lessOrEqual, value(comparison.right))
    case .greater: return try relation(left, .greater, value(comparison.right))
    case .greaterOrEqual: return try relation(left, .greaterOrEqual, value(comparison.right))
    case .isIn: return try membership(left, comparison.right)
    case .between: return try between(left)
    case .beginsWith: return try text(left, .beginsWith)
    case .endsWith: return try text(left, .endsWith)
    case .contains: return try text(left, .contains)
    case .like, .matches:
      let left = try textOperand(left)
      if case .constant(.null) = left { return .constant(false) }
      let predicate = try comparison.operator == .like ? like(left) : matches(left)
      guard case .constant = left else { return predicate }
      return .constant(predicate.evaluate(on: OutputRow(values: [])))
    }
  }

  // MARK: Operands

  private func value(_ expression: FetchPredicate.Expression) throws(FetchPredicateError) -> ResolvedExpression {
    try resolver.value(expression, of: name)
  }

  /// The constant as it is compared under the options.
  private func folding(_ value: Value, _ options: FetchPredicate.Options) -> Value {
    guard case .string(let text) = value, !options.isEmpty else { return value }
    return .string(options.folded(text))
  }

  private func options(for expression: ResolvedExpression) -> FetchPredicate.Options {
    expression.kind == .string ? options : []
  }

  // MARK: Equal, less, greater

  private func relation(
    _ left: ResolvedExpression, _ relation: ResolvedPredicate.Relation, _ right: ResolvedExpression
  ) throws(FetchPredicateError) -> ResolvedPredicate {
    switch (left, right) {
    case (.constant(let left), .constant(let right)):
      let isLocalized = options.contains(.localeSensitive)
      var (a, b) = isLocalized ? (left, right) : (folding(left, options), folding(right, options))
      if let first = ValueKind(a), let second = ValueKind(b), first != second {
        // Next to a date, text is read as a date.
        guard first == .string || second == .string, first != .number, second != .number else {
          throw .differentKinds(left: first.rawValue, right: second.rawValue)
        }
        if first == .string {
          a = try ConstantCoercion(.constant(b)).coerce(a)
        } else {
          b = try ConstantCoercion(.constant(a)).coerce(b)
        }
      }
      return .constant(isLocalized ? relation.holds(between: a, and: b, options) : relation.holds(between: a, and: b))
    case (.constant(let value), _): return try compare(right, relation.flipped, value)
    case (_, .constant(let value)): return try compare(left, relation, value)
    default:
      try checkKinds(left, right)
      try check(relation, on: left)
      return .compare(left, relation, right, options(for: left))
    }
  }

  private func checkKinds(_ left: ResolvedExpression, _ right: ResolvedExpression) throws(FetchPredicateError) {
    let sameHierarchy = left.objectRoot == nil || right.objectRoot == nil || left.objectRoot === right.objectRoot
    guard left.kind == right.kind, sameHierarchy else {
      throw .differentKinds(left: "\(left.name), \(left.typeName),", right: "\(right.name), \(right.typeName)")
    }
  }

  private func check(
    _ relation: ResolvedPredicate.Relation, on left: ResolvedExpression
  ) throws(FetchPredicateError) {
    guard relation != .equal, relation != .notEqual else {
      guard left.kind != .opaque else {
        throw .notComparable(property: left.name, type: left.typeName, operation: name)
      }
      return
    }
    // Objects order by their numbers, as in a sort by `SELF`.
    guard left.isOrdered else {
      throw .notComparable(property: left.name, type: left.typeName, operation: name)
    }
  }

  private func compare(
    _ left: ResolvedExpression, _ relation: ResolvedPredicate.Relation, _ value: Value
  ) throws(FetchPredicateError) -> ResolvedPredicate {
    let options = options(for: left)
    let coerced = try ConstantCoercion(left).coerce(value)
    let constant = options.contains(.localeSensitive) ? coerced : folding(coerced, options)
    if constant.isNull, case .path(let path) = left, case .composite(let composite) = path.end {
      let isNil = ResolvedPredicate.and(
        composite.attributes.map { attribute in
          .compare(
            .path(ResolvedPath(origin: path.origin, steps: path.steps, end: .attribute(attribute))), .equal,
            .constant(.null), [])
        })
      switch relation {
      case .equal: return isNil
      case .notEqual: return .not(isNil)
      case .less, .lessOrEqual, .greater, .greaterOrEqual: return .constant(false)
      }
    }
    if constant.isNull {
      switch relation {
      case .equal, .notEqual: break
      case .less, .lessOrEqual, .greater, .greaterOrEqual: return .constant(false)
      }
    } else {
      try check(relation, on: left)
    }
    return .compare(left, relation, .constant(constant), options)
  }

  // MARK: Lists

  private func membership(
    _ left: ResolvedExpression, _ right: FetchPredicate.Expression
  ) throws(FetchPredicateError) -> ResolvedPredicate {
    switch try resolver.operand(right) {
    case .values(let values): return try membership(left, among: values)
    case .list(let list):
      var parts: [ResolvedPredicate] = []
      for element in list { parts.append(try relation(left, .equal, element)) }
      return .or(parts)
    case .collection(let collection, let element):
      return .exists(collection, try inside.relation(element, .equal, left))
    case .value:
      throw .badOperand(
        operation: name, expected: "a list or a to-many relationship on its right", found: "\(right)")
    }
  }

  private func membership(
    _ left: ResolvedExpression, among values: [Value]
  ) throws(FetchPredicateError) -> ResolvedPredicate {
    if options.contains(.localeSensitive) {
      var parts: [ResolvedPredicate] = []
      for value in values { parts.append(try relation(left, .equal, .constant(value))) }
      return .or(parts)
    }
    if case .constant(let value) = left {
      // Text beside a date, a UUID or a URI is read as one.
      let readsText = left.kind == .date || left.kind == .uuid || left.kind == .uri
      var folded: [Value] = []
      for value in values {
        folded.append(readsText ? try ConstantCoercion(left).coerce(value) : folding(value, options))
      }
      return .constant(ResolvedList(folded).contains(folding(value, self.options)))
    }
    let options = options(for: left)
    let coercion = ConstantCoercion(left)
    var coerced: [Value] = []
    coerced.reserveCapacity(values.count)
    for value in values { coerced.append(folding(try coercion.coerce(value), options)) }
    return .isIn(left, ResolvedList(coerced), options)
  }

  private func between(_ left: ResolvedExpression) throws(FetchPredicateError) -> ResolvedPredicate {
    let bounds: [ResolvedExpression]
    switch try resolver.operand(comparison.right) {
    case .values(let values): bounds = values.map(ResolvedExpression.constant)
    case .list(let list): bounds = list
    case .value, .collection:
      throw .badOperand(operation: name, expected: "a list on its right", found: "\(comparison.right)")
    }
    guard bounds.count == 2 else {
      throw .badOperand(operation: name, expected: "two values", found: "\(bounds.count)")
    }
    return .and([
      try relation(left, .greaterOrEqual, bounds[0]), try relation(left, .lessOrEqual, bounds[1]),
    ])
  }

  // MARK: Strings

  private func text(
    _ left: ResolvedExpression, _ operation: ResolvedPredicate.TextOperator
  ) throws(FetchPredicateError) -> ResolvedPredicate {
    let left = try textOperand(left)
    let right = try textOperand(value(comparison.right))
    if case .constant(let a) = left, case .constant(let b) = right {
      return .constant(operation.holds(of: a, and: b))
    }
    if case .constant(.null) = left { return .constant(false) }
    if case .constant(.null) = right { return .constant(false) }
    return .text(left, operation, right, options)
  }

  private func textOperand(_ operand: ResolvedExpression) throws(FetchPredicateError) -> ResolvedExpression {
    if case .constant(let value) = operand {
      guard value.isNull || ValueKind(value) == .string else {
        throw .badOperand(operation: name, expected: "strings", found: operand.name)
      }
      return .constant(folding(value, options))
    }
    guard operand.kind == .string else {
      throw .notComparable(property: operand.name, type: operand.typeName, operation: name)
    }
    return operand
  }

  /// The pattern of `LIKE` and `MATCHES`; nil if it is nil.
  private func pattern() throws(FetchPredicateError) -> String? {
    switch try value(comparison.right) {
    case .constant(.string(let pattern)): return pattern
    case .constant(.null): return nil
    default: throw .badOperand(operation: name, expected: "a string as its pattern", found: "\(comparison.right)")
    }
  }

  private func matches(_ left: ResolvedExpression) throws(FetchPredicateError) -> ResolvedPredicate {
    guard let pattern = try pattern() else { return .constant(false) }
    return .matches(left, try WholeMatch(pattern, options: options))
  }

  private func like(_ left: ResolvedExpression) throws(FetchPredicateError) -> ResolvedPredicate {
    guard let source = try pattern() else { return .constant(false) }
    let pattern = LikePattern(options.folded(source))
    guard let plain = pattern.plain else { return .like(left, pattern, options) }
    let text = ResolvedExpression.constant(.string(plain.text))
    switch (plain.startsOpen, plain.endsOpen) {
    case (false, false) where pattern.source != "*": return .compare(left, .equal, text, options)
    case (false, true), (false, false): return .text(left, .beginsWith, text, options)
    case (true, false): return .text(left, plain.text.isEmpty ? .beginsWith : .endsWith, text, options)
    case (true, true): return .text(left, .contains, text, options)
    }
  }
}
