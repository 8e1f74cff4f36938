extension FetchPredicate {
  /// Whether the predicate is true for an object. Called on the queue of the object's context.
  ///
  /// The answer is the one that every store gives for the object's row, with the object's unsaved changes. Unlike a store, it
  /// knows transient attributes. Faults that the predicate reaches are filled.
  /// Source: `evaluate(with:substitutionVariables:)` of Core Data's `NSPredicate`.
  /// - Parameter substitutionVariables: values for the predicate's variables, as ``withSubstitutionVariables(_:)`` takes them.
  /// - Throws: ``FetchPredicateError`` when the predicate doesn't fit the object's entity.
  public func evaluate(
    with object: ManagedObject, substitutionVariables: [String: Any?] = [:]
  ) throws(FetchPredicateError) -> Bool {
    try substituting(substitutionVariables).resolved(in: object.entity).evaluate(on: object)
  }

  /// Whether the predicate is true for a dictionary's values.
  ///
  /// Key paths name its keys, and lead on into dictionaries in it; a key that it doesn't have is nil, as in Key-Value Coding.
  /// The values are those that ``PredicateArgument/init(_:)`` takes. They compare as ``FetchPredicate`` describes.
  /// Source: `evaluate(with:substitutionVariables:)` of Core Data's `NSPredicate`.
  /// - Throws: ``FetchPredicateError`` when values don't fit the predicate or each other, or when it asks for objects.
  public func evaluate(
    with values: [String: Any?], substitutionVariables: [String: Any?] = [:]
  ) throws(FetchPredicateError) -> Bool {
    let constant = try substituting(substitutionVariables).replacingLeaves { leaf throws(FetchPredicateError) in
      switch leaf {
      case .keyPath(let path): return try Self.operand(path[...], in: values, path)
      case .evaluatedObject:
        throw .unsupported(part: "SELF", hint: "a dictionary isn't an object: name one of its keys")
      default: return nil
      }
    }
    return try constant.resolved(in: Self.nothing).evaluate(on: OutputRow(values: []))
  }

  /// An entity without properties.
  private static let nothing = EntityDescription.ofColumns("dictionary")

  private func substituting(_ variables: [String: Any?]) throws(FetchPredicateError) -> FetchPredicate {
    variables.isEmpty ? self : try withSubstitutionVariables(variables)
  }

  /// The value that the rest of a key path leads to.
  private static func operand(
    _ rest: ArraySlice<String>, in values: [String: Any?], _ path: [String]
  ) throws(FetchPredicateError) -> Expression {
    guard let name = rest.first else { return .constant(.null) }
    let names = rest.dropFirst()
    let found = values[name] ?? nil
    if !names.isEmpty, let inner = found as? [String: Any?] { return try operand(names, in: inner, path) }
    guard let argument = PredicateArgument(found) else {
      let type = found.map { "\(Swift.type(of: $0))" } ?? "nil"
      throw .badOperand(operation: name, expected: "a value that a property can have", found: "a \(type)")
    }
    switch argument {
    case .value(let value):
      guard names.isEmpty || value.isNull else {
        throw .notTraversable(path: path.joined(separator: "."), name: name, entity: "dictionary", isToMany: false)
      }
      return .constant(value)
    case .list(let list):
      guard let last = names.first else { return .constants(list) }
      guard names.count == 1, let function = Function(collectionOperator: last) else {
        throw .notTraversable(path: path.joined(separator: "."), name: name, entity: "dictionary", isToMany: true)
      }
      return .function(function, [.constants(list)])
    }
  }
}

extension Sequence where Element: ManagedObject {
  /// The objects for which a predicate is true, in their order; see ``FetchPredicate/evaluate(with:substitutionVariables:)``.
  ///
  /// Source: `filtered(using:)` of Foundation's `NSArray`.
  /// - Throws: ``FetchPredicateError`` when the predicate doesn't fit an object's entity.
  public func filtered(using predicate: FetchPredicate) throws(FetchPredicateError) -> [Element] {
    var resolved: [ObjectIdentifier: ResolvedPredicate] = [:]
    var found: [Element] = []
    for object in self {
      let entity = object.entity
      if resolved[ObjectIdentifier(entity)] == nil {
        resolved[ObjectIdentifier(entity)] = try predicate.resolved(in: entity)
      }
      if resolved[ObjectIdentifier(entity)]?.evaluate(on: object) == true { found.append(object) }
    }
    return found
  }

  /// The objects in the order of sort descriptors, which is that of a fetch; as they are without any.
  ///
  /// Source: `sortedArray(using:)` of Foundation's `NSArray`.
  /// - Throws: ``FetchPredicateError`` when a descriptor doesn't fit an object's entity.
  public func sorted(using descriptors: [FetchSortDescriptor]) throws(FetchPredicateError) -> [Element] {
    if descriptors.isEmpty { return Array(self) }
    var resolved: [ObjectIdentifier: [ResolvedSort]] = [:]
    var keyed: [(object: Element, key: ContiguousArray<Value>)] = []
    for object in self {
      let entity = object.entity
      var sorts = resolved[ObjectIdentifier(entity)] ?? []
      if sorts.isEmpty {
        for descriptor in descriptors { sorts.append(try descriptor.resolved(in: entity)) }
        resolved[ObjectIdentifier(entity)] = sorts
      }
      keyed.append((object, ContiguousArray(sorts.map { $0.value(of: object) })))
    }
    // Key paths differ between entities, directions and comparisons don't.
    guard let sorts = resolved.values.first else { return [] }
    return keyed.sorted { sorts.order($0.key, $0.object.id, $1.key, $1.object.id) < 0 }.map(\.object)
  }
}
