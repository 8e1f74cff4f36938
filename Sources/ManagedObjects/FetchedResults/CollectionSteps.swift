/// An object that a predicate reaches over a to-many relationship, or on the way to one.
struct CollectionStep {
  /// The relationships that lead to it from the object that the predicate is about; one at least.
  let chain: [RelationshipDescription]
  /// Its entity.
  let destination: EntityDescription
  /// The relationship by which the object before it reaches it.
  let last: RelationshipDescription
  /// What is read from it: attributes, and the relationships that lead on.
  fileprivate(set) var slots: Set<Int>

  /// Where an object says by itself who holds it in the set that leads to it; nil where the holder says so.
  var ownerSlot: Int? {
    guard last.isToMany, let inverse = last.inverseRelationship, !inverse.isToMany else { return nil }
    return inverse.slot
  }

  /// Holds for the objects that reach one of `ids` this way.
  func predicate(reaching ids: some Collection<ManagedObjectID>) -> ResolvedPredicate {
    let list = ResolvedList(ids.map(Value.object))
    let start = Array(chain.prefix { !$0.isToMany })
    if start.count == chain.count {
      return .isIn(.path(ResolvedPath(steps: Array(chain.dropLast()), end: .relationship(last))), list, [])
    }
    let collection = ResolvedCollection(
      origin: 0, start: start, links: chain.dropFirst(start.count).map { .step($0) }, number: 1, entity: destination)
    return .exists(collection, .isIn(.path(ResolvedPath(origin: 1, steps: [], end: .objectID(destination))), list, []))
  }
}

extension ResolvedPredicate {
  /// Every object on the predicate's ways over to-many relationships, each way once.
  var collectionSteps: [CollectionStep] {
    guard readsCollections else { return [] }
    var collector = CollectionStepCollector()
    collector.visit(self, [[]])
    return collector.steps
  }
}

/// Walks through a predicate with the ways to the objects at which paths begin, by their origins.
private struct CollectionStepCollector {
  typealias Way = [RelationshipDescription]

  var steps: [CollectionStep] = []
  private var places: [Way: Int] = [:]

  private mutating func add(_ way: Way, reading slot: Int?) {
    for (index, relationship) in way.enumerated() {
      let chain = Array(way[...index])
      let read = index + 1 < way.count ? way[index + 1].slot : slot
      if places[chain] == nil {
        places[chain] = steps.count
        steps.append(
          CollectionStep(
            chain: chain, destination: relationship.destinationEntity, last: relationship, slots: []))
      }
      if let read, let place = places[chain] { steps[place].slots.insert(read) }
    }
  }

  mutating func visit(_ predicate: ResolvedPredicate, _ ways: [Way]) {
    switch predicate {
    case .constant: break
    case .compare(let left, _, let right, _), .text(let left, _, let right, _):
      visit(left, ways)
      visit(right, ways)
    case .isIn(let left, _, _), .like(let left, _, _), .matches(let left, _): visit(left, ways)
    case .exists(let collection, let inner):
      let way = visit(collection, ways)
      visit(inner, inside(collection, way, ways))
    case .and(let parts), .or(let parts): for part in parts { visit(part, ways) }
    case .not(let inner): visit(inner, ways)
    }
  }

  private mutating func visit(_ expression: ResolvedExpression, _ ways: [Way]) {
    switch expression {
    case .constant: break
    // What begins at the root over to-one relationships only is followed with the objects held.
    case .path(let path): if path.origin > 0 { add(ways[path.origin] + path.steps, reading: path.endSlot) }
    case .call(_, let arguments): for argument in arguments { visit(argument, ways) }
    case .cast(let inner, _): visit(inner, ways)
    case .element(let collection, _, let value):
      let way = visit(collection, ways)
      visit(value, inside(collection, way, ways))
    case .aggregate(_, let collection, let value):
      let way = visit(collection, ways)
      if let value { visit(value, inside(collection, way, ways)) }
    case .conditional(let condition, let first, let second):
      visit(condition, ways)
      visit(first, ways)
      visit(second, ways)
    }
  }

  /// Returns the way to the collection's objects.
  private mutating func visit(_ collection: ResolvedCollection, _ ways: [Way]) -> Way {
    var way = ways[collection.origin] + collection.start
    for link in collection.links {
      switch link {
      case .step(let relationship): way.append(relationship)
      case .filter(let predicate): visit(predicate, inside(collection, way, ways))
      }
    }
    add(way, reading: nil)
    return way
  }

  private func inside(_ collection: ResolvedCollection, _ way: Way, _ ways: [Way]) -> [Way] {
    ways.prefix(collection.number) + [way]
  }
}
