// Prefetching reads the objects at the other end of relationships with one read per relationship instead of one per object.
// Objects refer to each other by ID, so something has to hold the prefetched ones until they are touched: the context holds
// those of its latest fetches, a faulting array those of its batches.

extension FetchRequest {
  /// The relationships of ``relationshipKeyPathsForPrefetching``.
  /// - Throws: ``FetchPredicateError`` for a name that isn't a relationship's.
  func prefetchPaths(in entity: EntityDescription) throws -> [[RelationshipDescription]] {
    try relationshipKeyPathsForPrefetching.map { keyPath in
      var entity = entity
      return try keyPath.split(separator: ".", omittingEmptySubsequences: false).map { name in
        let name = String(name)
        guard let property = entity.propertiesByName[name] else {
          let known = entity.relationships.map(\.name)
          throw FetchPredicateError.unknownProperty(
            name: name, entity: entity.name, nearest: NearestName.of(name, among: known), known: known)
        }
        guard let relationship = property as? RelationshipDescription else {
          throw FetchPredicateError.notTraversable(path: keyPath, name: name, entity: entity.name, isToMany: false)
        }
        entity = relationship.destinationEntity
        return relationship
      }
    }
  }
}

extension ManagedObjectContext {
  /// Reads the objects that the paths lead to from `objects`, step by step. Returns the objects that the caller has to hold.
  func prefetch(_ paths: [[RelationshipDescription]], of objects: [ManagedObject]) throws -> [ManagedObject] {
    var reached: [[RelationshipDescription]: [ManagedObject]] = [:]
    for path in paths {
      var step = objects
      for length in path.indices {
        let prefix = Array(path[...length])
        if let known = reached[prefix] {
          step = known
        } else {
          step = try prefetch(path[length], of: step)
          reached[prefix] = step
        }
      }
    }
    return reached.values.flatMap { $0 }
  }

  /// Reads the objects that a relationship of several objects leads to.
  func prefetch(_ relationship: RelationshipDescription, of owners: [ManagedObject]) throws -> [ManagedObject] {
    let owners = owners.filter { $0.state != .detached && $0.entity.isKindOf(relationship.entity) }
    try fill(owners.lazy.filter(\.isUnfilled).map(\.id))
    guard relationship.isToMany else {
      let ids = owners.compactMap { owner in
        if case .object(let id) = owner.slots[relationship.slot] { return id }
        return nil
      }
      return try objects(ids)
    }
    let unread = owners.filter { !$0.hasResolved(relationship) && !$0.isUnfilled }
    // Making objects of the rows may give the owners their permanent IDs.
    let asked = unread.map(\.id)
    let related = try source.relatedRows(of: asked, relationship)
    // Held until all the sets refer to them.
    let found = materialize(related.map(\.row))
    let members = Dictionary(grouping: related.indices) { related[$0].owner }
    for (owner, id) in zip(unread, asked) {
      let ids = members[id]?.map { found[$0].id } ?? []
      owner.settle(
        relationship, stored: relationship.isOrdered ? .orderedObjects(OrderedSet(ids)) : .objects(Set(ids)), in: self)
    }
    return try found + objects(owners.flatMap { $0.resolvedIDs(relationship) })
  }

  /// The objects with those IDs, each once, with their values.
  private func objects(_ ids: [ManagedObjectID]) throws -> [ManagedObject] {
    let ids = Set(ids)
    // Held before the rest is read, which may make the registry release objects.
    let known = ids.compactMap { registry.object(with: $0) }
    var seen: Set<ManagedObjectID> = []
    let unread = ids.filter { id in
      guard !id.isTemporaryID else { return false }
      guard let object = registry.object(with: id) else { return true }
      return object.isUnfilled && object.state == .clean
    }
    let read = unread.isEmpty ? [] : materialize(try source.rows(with: Array(unread)))
    return (known + read).filter { seen.insert($0.id).inserted }
  }
}
