/// The paths that a predicate or expression reads.
package protocol PathReading {
  /// Visits every expression and collection.
  func visit(_ expressions: (ResolvedExpression) -> Void, collections: (ResolvedCollection) -> Void)
}

extension PathReading {
  /// Every path that starts at the evaluated object.
  package var paths: [ResolvedPath] {
    var paths: [ResolvedPath] = []
    visit { expression in
      if case .path(let path) = expression, path.origin == 0 { paths.append(path) }
    } collections: { collection in
      if collection.origin == 0, let last = collection.start.last {
        paths.append(ResolvedPath(steps: Array(collection.start.dropLast()), end: .relationship(last)))
      }
    }
    return paths
  }

  /// Whether it reads to-many relationships.
  package var readsCollections: Bool {
    var reads = false
    visit { _ in
    } collections: { _ in
      reads = true
    }
    return reads
  }

  /// - Throws: ``FetchRequestError/notStored(entity:property:)`` if a path reads a property that no store keeps.
  func checkStored() throws {
    var all: [ResolvedPath] = []
    visit { expression in
      if case .path(let path) = expression { all.append(path) }
    } collections: { collection in
      for step in collection.start + collection.steps {
        all.append(ResolvedPath(steps: [step], end: .objectID(step.destinationEntity)))
      }
    }
    for path in all { try path.checkStored() }
  }
}

extension ResolvedPredicate: PathReading {
  package func visit(
    _ expressions: (ResolvedExpression) -> Void, collections: (ResolvedCollection) -> Void
  ) {
    switch self {
    case .constant: break
    case .compare(let left, _, let right, _), .text(let left, _, let right, _):
      left.visit(expressions, collections: collections)
      right.visit(expressions, collections: collections)
    case .isIn(let left, _, _), .like(let left, _, _), .matches(let left, _):
      left.visit(expressions, collections: collections)
    case .exists(let collection, let predicate):
      collection.visit(expressions, collections: collections)
      predicate.visit(expressions, collections: collections)
    case .and(let parts), .or(let parts): for part in parts { part.visit(expressions, collections: collections) }
    case .not(let inner): inner.visit(expressions, collections: collections)
    }
  }
}

extension ResolvedCollection {
  fileprivate func visit(
    _ expressions: (ResolvedExpression) -> Void, collections: (ResolvedCollection) -> Void
  ) {
    collections(self)
    for case .filter(let predicate) in links { predicate.visit(expressions, collections: collections) }
  }
}

extension ResolvedExpression: PathReading {
  package func visit(
    _ expressions: (ResolvedExpression) -> Void, collections: (ResolvedCollection) -> Void
  ) {
    expressions(self)
    switch self {
    case .constant, .path: break
    case .call(_, let arguments): for argument in arguments { argument.visit(expressions, collections: collections) }
    case .cast(let inner, _): inner.visit(expressions, collections: collections)
    case .aggregate(_, let collection, let value):
      collection.visit(expressions, collections: collections)
      value?.visit(expressions, collections: collections)
    case .element(let collection, _, let value):
      collection.visit(expressions, collections: collections)
      value.visit(expressions, collections: collections)
    case .conditional(let predicate, let first, let second):
      predicate.visit(expressions, collections: collections)
      first.visit(expressions, collections: collections)
      second.visit(expressions, collections: collections)
    }
  }
}
