import Spelling

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
        if case .object(let id) = owner.content[relationship.slot] { return id }
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

extension ManagedObjectContext {
  /// The object of a row: the registered one, which keeps its values unless it is a fault, or a new one.
  /// - Parameter isMerged: whether the row comes from the saves that the context has merged; otherwise the store has just been
  ///   read.
  func object(from row: StoreRow, isMerged: Bool) -> ManagedObject {
    takePromotedIDs()
    let known = registry.object(with: row.id)
    if let known, !known.isUnfilled || (known.state != .clean && known.state != .updated) { return known }
    let object = known ?? makeFault(row.id)
    object.slots = row.asRead
    object.isUnfilled = false
    object.era = registry.era
    object.latestSave = isMerged ? mergeQueue.latestMerge : rowSource.latestSave
    if object.state == .updated { noteFilled(object) } else { object.committed = [] }
    if object.entity.hasOwnClass { callbacks.awakeFromFetch(object) }
    return object
  }

  /// The objects that `objects` lead to by each route, filled from `rows` of merged saves where possible, the others from the
  /// store with one read for each step. The caller has to hold them.
  func objects(
    along routes: [[RelationshipDescription]], from objects: [ManagedObject], _ rows: [ManagedObjectID: StoreRow]
  ) -> [ManagedObject] {
    var held: [ManagedObject] = []
    for route in routes {
      var level = objects
      for relationship in route {
        var targets: Set<ManagedObjectID> = []
        for object in level where !object.isUnfilled {
          if case .object(let id) = object.content[relationship.slot] { targets.insert(id) }
        }
        let unread = targets.filter { registeredObject(for: $0)?.isUnfilled ?? true }
        held += unread.compactMap { rows[$0] }.map { self.object(from: $0, isMerged: true) }
        let missing = unread.filter { rows[$0] == nil }
        if !missing.isEmpty, let read = reading({ try source.rows(with: Array(missing)) }) {
          held += read.map { self.object(from: $0, isMerged: false) }
        }
        level = targets.compactMap { registeredObject(for: $0) }
      }
    }
    return held
  }
}

extension StoreRow {
  /// The row's values as a fetch would bring them. A save also has its context's sets and transient values.
  fileprivate var asRead: ContiguousArray<Value> {
    var values = values
    for property in id.entity.properties {
      if property.isTransient {
        values[property.slot] = id.entity.initialValues[property.slot]
      } else if let relationship = property as? RelationshipDescription, relationship.isToMany {
        values[property.slot] = .unresolved
      }
    }
    return values
  }
}

/// A row by itself, for predicates and sorts that need nothing else.
struct PlainRow: PredicateSubject {
  let row: StoreRow

  var subjectID: ManagedObjectID { row.id }
  func value(inSlot slot: Int) -> Value { row.values[slot] }
  func subject(inSlot slot: Int) -> (any PredicateSubject)? { nil }
  func subjects(inSlot slot: Int) -> [any PredicateSubject] { [] }
}
