/// An element of an ordered collection: `tracks[FIRST]`, `tracks[2].album.title`, `{a, b}[$n]`.
extension PredicateResolver {
  func element(
    of base: FetchPredicate.Expression, at index: FetchPredicate.Index
  ) throws(FetchPredicateError) -> ResolvedExpression {
    let place = try place(index)
    switch try operand(base) {
    case .values(let values): return .constant(place.element(of: values) ?? .null)
    case .list(let list): return place.element(of: list) ?? .constant(.null)
    case .collection(let collection, let element):
      guard collection.steps.count == 1, let relationship = collection.steps.last, relationship.isOrdered else {
        throw .unsupported(
          part: "an index of \(base), which isn't what one ordered relationship holds",
          hint: "make the relationship ordered, or use ANY, SUBQUERY, @min or @max")
      }
      return .element(collection, place, element)
    case .value:
      throw .badOperand(operation: "an index", expected: "an ordered relationship or a list", found: "\(base)")
    }
  }

  private func place(_ index: FetchPredicate.Index) throws(FetchPredicateError) -> ResolvedIndex {
    switch index {
    case .first: return .at(0)
    case .last: return .last
    case .at(let expression):
      guard case .constant(.int(let number)) = try value(expression, of: "an index"), let place = Int(exactly: number)
      else { throw .badOperand(operation: "an index", expected: "a whole number", found: "\(expression)") }
      return .at(place)
    }
  }

  /// Follows names from an element to a value.
  func follow(
    _ names: [String], from element: ResolvedExpression
  ) throws(FetchPredicateError) -> ResolvedExpression {
    guard case .element(let collection, let place, .path(let start)) = element, let entity = start.objectEntity else {
      throw .badOperand(
        operation: "the key path \(names.joined(separator: "."))", expected: "an object to lead on from",
        found: element.name)
    }
    if names.contains(where: { $0.hasPrefix("@") }) {
      throw .unsupported(part: "\(names.joined(separator: ".")) behind an index", hint: "use SUBQUERY")
    }
    let rest = try ResolvedPath(names, in: entity, origin: collection.number)
    var steps = start.steps
    if case .relationship(let relationship) = start.end { steps.append(relationship) }
    if rest.isSelf { return element }
    return .element(
      collection, place,
      .path(ResolvedPath(origin: collection.number, steps: steps + rest.steps, end: rest.end)))
  }
}
