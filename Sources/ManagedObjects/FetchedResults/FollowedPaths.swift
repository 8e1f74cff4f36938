/// The paths from a controller's objects to the values that it selects, sorts and sections them by.
struct FollowedPaths {
  /// An object on a path, other than the first.
  struct Step {
    /// Its entity.
    let destination: EntityDescription
    /// The path to it.
    let path: ResolvedPath
    /// The slot that is read from it: an attribute, or the next relationship. nil for its ID.
    let slot: Int?
    /// Whether the predicate uses this path, so a change may bring in objects.
    let isInPredicate: Bool
  }

  /// Every object on a path, once for each path.
  private(set) var steps: [Step] = []
  /// Whether one of the paths goes over several relationships.
  var isDeep: Bool { steps.contains { !$0.path.steps.isEmpty } }
  /// The relationships of each path that has any.
  private(set) var routes: [[RelationshipDescription]] = []
  /// The objects that the predicate reaches over to-many relationships.
  let collections: [CollectionStep]
  /// Whether a row alone decides everything, without other objects or Swift code.
  let isPlain: Bool
  /// Entities whose deletion empties references that no delete rule reaches.
  let looseDestinations: [EntityDescription]

  init(predicate: ResolvedPredicate?, others: [ResolvedPath], asksObjects: Bool) {
    let predicatePaths = predicate?.paths ?? []
    let all = predicatePaths.map { ($0, true) } + others.map { ($0, false) }
    for (path, isInPredicate) in all where !path.steps.isEmpty {
      if !routes.contains(path.steps) { routes.append(path.steps) }
      for (index, relationship) in path.steps.enumerated() {
        let isLast = index + 1 == path.steps.count
        steps.append(
          Step(
            destination: relationship.destinationEntity,
            path: ResolvedPath(steps: Array(path.steps[..<index]), end: .relationship(relationship)),
            slot: isLast ? path.endSlot : path.steps[index + 1].slot, isInPredicate: isInPredicate))
      }
    }
    collections = predicate?.collectionSteps ?? []
    let relationships = all.flatMap { path, _ in path.steps + path.endRelationships } + collections.map(\.last)
    looseDestinations = relationships.filter {
      guard let inverse = $0.inverseRelationship else { return true }
      return inverse.deleteRule == .noAction
    }.map(\.destinationEntity)
    let readsTransients = all.contains { path, _ in
      if case .attribute(let attribute) = path.end { return attribute.isTransient }
      return false
    }
    isPlain = steps.isEmpty && !asksObjects && !readsTransients && collections.isEmpty
  }

  /// Whether an object of the entity lies on one of the paths.
  func contains(_ entity: EntityDescription) -> Bool { steps.contains { entity.isKindOf($0.destination) } }
}

extension ResolvedPath {
  /// The slot that is read at its end; nil for the object itself.
  var endSlot: Int? {
    switch end {
    case .attribute(let attribute): return attribute.slot
    case .relationship(let relationship): return relationship.slot
    case .objectID, .entityName, .composite: return nil
    }
  }

  fileprivate var endRelationships: [RelationshipDescription] {
    if case .relationship(let relationship) = end { return [relationship] }
    return []
  }
}
