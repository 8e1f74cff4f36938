import Foundation

extension PredicateResolver {
  /// Resolves an expression to one value, a list, or a collection.
  func operand(_ expression: FetchPredicate.Expression) throws(FetchPredicateError) -> Operand {
    switch expression {
    case .constant(let value): return value.objectIDs.map { .values($0.map(Value.object)) } ?? .value(.constant(value))
    case .constants(let values): return .values(values)
    case .keyPath(let names): return try follow(names, from: 0, entity)
    case .evaluatedObject: return try follow([], from: 0, entity)
    case .variable(let name):
      let (origin, entity) = try variable(name)
      return try follow([], from: origin, entity)
    case .member(let base, let names): return try member(of: base, names)
    case .list(let elements):
      var list: [ResolvedExpression] = []
      for element in elements { list.append(try value(element, of: "a list")) }
      let constants = list.compactMap(\.constantValue)
      return constants.count == list.count ? .values(constants) : .list(list)
    case .element(let base, let index): return .value(try element(of: base, at: index))
    case .subquery(let subquery): return try self.subquery(subquery)
    case .function(let function, let arguments): return .value(try call(function, arguments))
    case .cast(let inner, let type): return .value(try cast(value(inner, of: "CAST"), type))
    case .conditional(let predicate, let first, let second):
      return .value(try conditional(predicate, first, second))
    }
  }

  // MARK: Variables and subqueries

  private func variable(_ name: String) throws(FetchPredicateError) -> (Int, EntityDescription) {
    guard let (origin, entity) = variables[name] else { throw .unboundVariable(name) }
    return (origin, entity)
  }

  private func member(
    of base: FetchPredicate.Expression, _ names: [String]
  ) throws(FetchPredicateError) -> Operand {
    switch base {
    case .variable(let name):
      let (origin, entity) = try variable(name)
      return try follow(names, from: origin, entity)
    case .evaluatedObject: return try follow(names, from: 0, entity)
    case .keyPath(let first): return try follow(first + names, from: 0, entity)
    case .member(let inner, let first): return try member(of: inner, first + names)
    case .element(let collection, let index):
      return .value(try follow(names, from: element(of: collection, at: index)))
    default:
      guard case .collection(let collection, let element) = try operand(base) else {
        throw .badOperand(
          operation: "the key path \(names.joined(separator: "."))",
          expected: "an object or a subquery to lead on from",
          found: "\(base)")
      }
      return try follow(names, from: collection, element)
    }
  }

  private func subquery(_ subquery: FetchPredicate.Subquery) throws(FetchPredicateError) -> Operand {
    guard case .collection(let given, let element) = try operand(subquery.collection) else {
      throw .badOperand(operation: "SUBQUERY", expected: "a to-many relationship", found: "\(subquery.collection)")
    }
    var collection = try objects(of: given, element, for: "SUBQUERY")
    let inner = binding(subquery.variable, collection.entity)
    collection.links.append(.filter(try inner.predicate(subquery.predicate)))
    return try follow([], from: collection, .path(ResolvedPath([], in: collection.entity, origin: collection.number)))
  }

  // MARK: Functions

  private func call(
    _ function: FetchPredicate.Function, _ arguments: [FetchPredicate.Expression]
  ) throws(FetchPredicateError) -> ResolvedExpression {
    guard arguments.count == function.argumentCount else {
      throw .badOperand(
        operation: function.rawValue, expected: "\(function.argumentCount) argument(s)", found: "\(arguments.count)")
    }
    if function == .now { return .constant(.date(Date())) }
    if function.isAggregate { return try aggregate(function, arguments[0]) }
    var values: [ResolvedExpression] = []
    for argument in arguments { values.append(try value(argument, of: function.rawValue)) }
    try check(function, &values)
    let constants = values.compactMap(\.constantValue)
    if constants.count == values.count { return .constant(function.value(of: constants)) }
    let call = ResolvedExpression.call(function, values)
    return call.isDecimal ? .call(function, values.map(decimal)) : call
  }

  private func aggregate(
    _ function: FetchPredicate.Function, _ argument: FetchPredicate.Expression
  ) throws(FetchPredicateError) -> ResolvedExpression {
    switch try operand(argument) {
    case .collection(let collection, let element): return try aggregate(function, collection, element)
    case .values(let values):
      for value in values { try check(function, .constant(value)) }
      try checkAlike(values.map(ResolvedExpression.constant))
      return .constant(function.value(of: values))
    case .list(let list):
      for element in list { try check(function, element) }
      try checkAlike(list)
      let call = ResolvedExpression.call(function, list)
      return call.isDecimal ? .call(function, list.map(decimal)) : call
    case .value(let element):
      guard let rowAggregates, depth == 0, let aggregate = ExpressionDescription.Aggregate(function) else {
        throw .badOperand(
          operation: function.rawValue, expected: "a to-many relationship or a list", found: "\(argument)")
      }
      try check(function, element)
      return try rowAggregates.note(aggregate, element)
    }
  }

  private func checkAlike(_ values: [ResolvedExpression]) throws(FetchPredicateError) {
    guard let first = values.first(where: { $0.kind != nil }),
      let other = values.first(where: { $0.kind != nil && $0.kind != first.kind })
    else { return }
    throw .differentKinds(left: "\(first.name), \(first.typeName),", right: "\(other.name), \(other.typeName)")
  }

  /// Whether the function takes such values. Text beside a date that is subtracted from or by becomes a date.
  private func check(
    _ function: FetchPredicate.Function, _ values: inout [ResolvedExpression]
  ) throws(FetchPredicateError) {
    switch function {
    case .length, .lowercase, .uppercase, .canonical: try check(values, .string, function)
    case .add:
      guard values.count == 2 else { return }
      if values[0].kind == .date {
        try check([values[1]], .number, function)
      } else if values[1].kind == .date {
        try check([values[0]], .number, function)
      } else {
        try check(values, .number, function)
      }
    case .subtract:
      guard values.count == 2 else { return }
      if values[0].kind == .date, values[1].kind == .string { values[1] = try coerced(values[1], like: values[0]) }
      if values[1].kind == .date, values[0].kind == .string { values[0] = try coerced(values[0], like: values[1]) }
      if values[0].kind == .date {
        if values[1].kind != .date { try check([values[1]], .number, function) }
      } else if values[1].kind == .date {
        try check([values[0]], .date, function)
      } else {
        try check(values, .number, function)
      }
    default: try check(values, .number, function)
    }
  }

  private func check(
    _ values: [ResolvedExpression], _ kind: ValueKind, _ function: FetchPredicate.Function
  ) throws(FetchPredicateError) {
    for value in values where value.kind != nil && value.kind != kind {
      throw .badOperand(
        operation: function.symbol ?? function.rawValue, expected: kind.rawValue,
        found: "\(value.name), \(value.typeName)")
    }
  }

  private func coerced(
    _ value: ResolvedExpression, like other: ResolvedExpression
  ) throws(FetchPredicateError) -> ResolvedExpression {
    guard let constant = value.constantValue, value.kind != other.kind else { return value }
    return .constant(try ConstantCoercion(other).coerce(constant))
  }

  private func cast(
    _ value: ResolvedExpression, _ type: FetchPredicate.CastType
  ) throws(FetchPredicateError) -> ResolvedExpression {
    let fits: Bool
    switch (value.kind, type) {
    case (nil, _), (.number?, _), (.string?, _), (.date?, _): fits = true
    case (.uuid?, .string), (.uri?, .string): fits = true
    default: fits = false
    }
    guard fits else {
      throw .notComparable(property: value.name, type: value.typeName, operation: "CAST to \(type.rawValue)")
    }
    if let constant = value.constantValue { return .constant(type.value(of: constant)) }
    return .cast(value, type)
  }

  private func conditional(
    _ predicate: FetchPredicate, _ first: FetchPredicate.Expression, _ second: FetchPredicate.Expression
  ) throws(FetchPredicateError) -> ResolvedExpression {
    let condition = try self.predicate(predicate)
    var (a, b) = (try value(first, of: "TERNARY"), try value(second, of: "TERNARY"))
    a = try coerced(a, like: b)
    b = try coerced(b, like: a)
    try checkAlike([a, b])
    guard a.kind != .opaque, b.kind != .opaque else {
      throw .badOperand(operation: "TERNARY", expected: "values of a simple type", found: a.name)
    }
    if let one = a.objectRoot, let other = b.objectRoot, one !== other {
      throw .differentKinds(left: "\(a.name), \(a.typeName),", right: "\(b.name), \(b.typeName)")
    }
    if a.kind == nil, b.kind == nil { return .constant(.null) }
    if case .constant(let holds) = condition { return holds ? a : b }
    let conditional = ResolvedExpression.conditional(condition, a, b)
    return conditional.isDecimal ? .conditional(condition, decimal(a), decimal(b)) : conditional
  }

  /// The number as a decimal, so that a decimal expression is decimal in every row. A double without a decimal
  /// equivalent, such as infinity, becomes nil.
  private func decimal(_ value: ResolvedExpression) -> ResolvedExpression {
    if value.isDecimal || value.kind != .number { return value }
    if let constant = value.constantValue { return .constant(FetchPredicate.CastType.decimal.value(of: constant)) }
    return .cast(value, .decimal)
  }
}

extension ResolvedExpression {
  /// The constant; nil if it isn't one.
  package var constantValue: Value? {
    if case .constant(let value) = self { return value }
    return nil
  }
}
