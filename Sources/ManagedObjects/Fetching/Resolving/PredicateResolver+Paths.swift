/// Key paths: over to-one relationships to a value, over to-many ones to a collection, and with collection operators on
/// to an aggregate of it.
extension PredicateResolver {
  /// Where a key path begins.
  private enum Start {
    case object(origin: Int, EntityDescription)
    case collection(ResolvedCollection)
  }

  /// Follows names from the object with an origin.
  func follow(_ names: [String], from origin: Int, _ entity: EntityDescription) throws(FetchPredicateError) -> Operand {
    try follow(names[...], from: .object(origin: origin, entity))
  }

  /// Follows names from the elements of a collection.
  func follow(
    _ names: [String], from collection: ResolvedCollection, _ element: ResolvedExpression
  ) throws(FetchPredicateError) -> Operand {
    try follow(names[...], from: .collection(objects(of: collection, element, for: names.joined(separator: "."))))
  }

  /// The collection of the objects that `element` yields for each object of `collection`.
  func objects(
    of collection: ResolvedCollection, _ element: ResolvedExpression, for operation: String
  ) throws(FetchPredicateError) -> ResolvedCollection {
    guard case .path(let path) = element, path.origin == collection.number, let entity = path.objectEntity else {
      throw .badOperand(operation: operation, expected: "objects", found: element.name)
    }
    var collection = collection
    for step in path.steps { collection.links.append(.step(step)) }
    if case .relationship(let relationship) = path.end { collection.links.append(.step(relationship)) }
    collection.entity = entity
    return collection
  }

  private func follow(_ names: ArraySlice<String>, from start: Start) throws(FetchPredicateError) -> Operand {
    guard let index = names.firstIndex(where: { $0.hasPrefix("@") }) else { return try plain(names, from: start) }
    let before = names[..<index]
    let after = names[(index + 1)...]
    let name = names[index]
    if name == "@unionOfObjects" || name == "@distinctUnionOfObjects" {
      let end = after.firstIndex { $0.hasPrefix("@") } ?? after.endIndex
      var (collection, element) = try collection(before + after[..<end], from: start, name)
      if name == "@distinctUnionOfObjects" { collection.isDistinct = true }
      guard let next = after[end...].first else { return .collection(collection, element) }
      guard let function = FetchPredicate.Function(collectionOperator: next), end + 1 == after.endIndex else {
        throw .unsupported(
          part: "\(next) behind \(name)", hint: "@count, @sum, @avg, @min or @max may end the key path")
      }
      return .value(try aggregate(function, collection, element))
    }
    guard let function = FetchPredicate.Function(collectionOperator: name) else {
      throw .unsupported(
        part: "the collection operator \(name)",
        hint: "there are @count, @sum, @avg, @min, @max, @unionOfObjects and @distinctUnionOfObjects")
    }
    let (outer, _) = try collection(before, from: start, name)
    let (collection, element) = try collection(before + after, from: start, name)
    guard collection.links.count == outer.links.count, function != .count || after.isEmpty else {
      throw .unsupported(
        part: "\(after.joined(separator: ".")) behind \(name)",
        hint: function == .count ? "it counts what stands before it" : "only to-one relationships may stand there")
    }
    return .value(try aggregate(function, collection, element))
  }

  private func collection(
    _ names: ArraySlice<String>, from start: Start, _ operation: String
  ) throws(FetchPredicateError) -> (ResolvedCollection, ResolvedExpression) {
    switch try plain(names, from: start) {
    case .collection(let collection, let element): return (collection, element)
    case .value(let value):
      throw .badOperand(operation: operation, expected: "a to-many relationship before it", found: value.name)
    case .values, .list: throw .badOperand(operation: operation, expected: "a to-many relationship", found: "a list")
    }
  }

  /// Follows names without operators.
  private func plain(_ names: ArraySlice<String>, from start: Start) throws(FetchPredicateError) -> Operand {
    var here: EntityDescription
    switch start {
    case .object(_, let entity): here = entity
    case .collection(let collection): here = collection.entity
    }
    // The relationships followed, and how many of them come up to the last to-many one.
    var steps: [RelationshipDescription] = []
    var isToMany = 0
    for name in names {
      guard let relationship = here.propertiesByName[name] as? RelationshipDescription else { break }
      steps.append(relationship)
      here = relationship.destinationEntity
      if relationship.isToMany { isToMany = steps.count }
    }
    var collection: ResolvedCollection
    switch start {
    case .object(let origin, let entity):
      guard isToMany > 0 else { return .value(.path(try ResolvedPath(Array(names), in: entity, origin: origin))) }
      let first = steps.firstIndex(where: \.isToMany) ?? 0
      collection = ResolvedCollection(
        origin: origin, start: Array(steps[..<first]), links: steps[first..<isToMany].map { .step($0) },
        number: depth + 1, entity: steps[isToMany - 1].destinationEntity)
    case .collection(let given):
      collection = given
      collection.links += steps[..<isToMany].map { .step($0) }
      if isToMany > 0 { collection.entity = steps[isToMany - 1].destinationEntity }
    }
    let rest = Array(names.dropFirst(isToMany))
    return .collection(
      collection, .path(try ResolvedPath(rest, in: collection.entity, origin: collection.number)))
  }

  /// An aggregate of the value that `element` yields for each object.
  func aggregate(
    _ function: FetchPredicate.Function, _ collection: ResolvedCollection, _ element: ResolvedExpression
  ) throws(FetchPredicateError) -> ResolvedExpression {
    if function == .count {
      try check(function, element)
      if case .path(let path) = element, path.isSelf, !collection.isDistinct {
        return .aggregate(.count, collection, nil)
      }
      return .aggregate(.count, collection, element)
    }
    try check(function, element)
    return .aggregate(function, collection, element)
  }

  /// Checks that the function can aggregate values of this kind.
  func check(
    _ function: FetchPredicate.Function, _ element: ResolvedExpression
  ) throws(FetchPredicateError) {
    let fits =
      switch function {
      case .sum, .average: element.kind == .number || element.kind == nil
      case .minimum, .maximum: element.kind?.isOrdered ?? true
      default: element.kind != .opaque
      }
    guard fits else {
      throw .notComparable(property: element.name, type: element.typeName, operation: function.rawValue)
    }
  }
}
