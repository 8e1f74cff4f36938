extension ResolvedPredicate {
  /// Every path that the predicate reads from the object that it is about.
  var paths: [ResolvedPath] {
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

  /// Whether the predicate reads to-many relationships.
  var readsCollections: Bool {
    var reads = false
    visit { _ in
    } collections: { _ in
      reads = true
    }
    return reads
  }

  fileprivate func visit(
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

extension ResolvedExpression {
  fileprivate func visit(
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
    case .conditional(let predicate, let first, let second):
      predicate.visit(expressions, collections: collections)
      first.visit(expressions, collections: collections)
      second.visit(expressions, collections: collections)
    }
  }
}
