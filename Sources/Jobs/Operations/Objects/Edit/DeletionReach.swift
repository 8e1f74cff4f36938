package import ManagedObjects

/// How many objects the model's delete rules bring a deletion to, counted up to a bound without loading any of them.
///
/// A deletion that is applied to see what it would do loads all that it reaches: of an object on which a million hang, a million.
package struct DeletionReach {
  /// Numbers that one query has, at most.
  private static let together = 500

  private let most: Int
  private let context: ManagedObjectContext
  private var known: Set<ManagedObjectID>
  /// Objects that lose a reference to one that is deleted; some may be deleted as well.
  private var unlinked = 0

  private init(_ context: ManagedObjectContext, from id: ManagedObjectID, most: Int) {
    self.context = context
    self.most = most
    known = [id]
  }

  /// Whether more than `most` objects would be deleted, or changed with that.
  /// - Throws: the store's error.
  package static func ofDeletion(
    _ object: ManagedObject, exceeds most: Int, in context: ManagedObjectContext
  ) throws -> Bool {
    var reach = DeletionReach(context, from: object.objectID, most: most)
    return try reach.walk(from: object)
  }

  private var isExceeded: Bool { known.count + unlinked > most }

  private mutating func walk(from object: ManagedObject) throws -> Bool {
    var next = [object.objectID]
    while !next.isEmpty {
      var found: [ManagedObjectID] = []
      for (entity, ids) in Dictionary(grouping: next, by: \.entity) {
        for relationship in entity.relationships where !relationship.isUnstored {
          for start in stride(from: 0, to: ids.count, by: Self.together) {
            let some = Array(ids[start..<min(start + Self.together, ids.count)])
            try reach(from: some, by: relationship, found: &found)
            if isExceeded { return true }
          }
        }
      }
      next = found
    }
    return false
  }

  private mutating func reach(
    from ids: [ManagedObjectID], by relationship: RelationshipDescription, found: inout [ManagedObjectID]
  ) throws {
    switch relationship.deleteRule {
    case .noAction: return
    case .cascade:
      for id in try related(to: ids, by: relationship, limit: most + 1) where known.insert(id).inserted {
        found.append(id)
      }
    case .nullify, .deny:
      // To one object: as many as there are, and these are counted.
      if relationship.isToMany {
        unlinked += try related(to: ids, by: relationship, limit: max(1, most + 1 - unlinked)).count
      }
    }
  }

  /// The objects at the other end, up to a limit.
  private func related(
    to ids: [ManagedObjectID], by relationship: RelationshipDescription, limit: Int
  ) throws -> [ManagedObjectID] {
    guard let inverse = relationship.inverseRelationship else {
      return try related(to: ids, byOneWay: relationship, limit: limit)
    }
    let isOfThese = FetchPredicate.comparison(
      .init(
        .path(inverse.name), .isIn, .constants(ids.map { .object($0) }), modifier: inverse.isToMany ? .any : .direct))
    return try context.fetchIDs(
      FetchRequest<ManagedObject>(
        entityName: relationship.destinationEntity.name, predicate: isOfThese, fetchLimit: limit,
        includesPendingChanges: false))
  }

  /// A relationship without an inverse can only be asked for from its own end.
  private func related(
    to ids: [ManagedObjectID], byOneWay relationship: RelationshipDescription, limit: Int
  ) throws -> [ManagedObjectID] {
    var related: [ManagedObjectID] = []
    for id in ids where related.count < limit {
      if relationship.isToMany {
        let isLong =
          FetchPredicate.comparison(.path("SELF"), .equal, .constant(.object(id)))
          && .comparison(.path("\(relationship.name).@count"), .greater, .constant(.int(Int64(limit))))
        let request = FetchRequest<ManagedObject>(
          entityName: id.entity.name, predicate: isLong, fetchLimit: 1, includesPendingChanges: false)
        if try !context.fetchIDs(request).isEmpty {
          return related + [ManagedObjectID](repeating: id, count: limit - related.count)
        }
      }
      let object = context.object(with: id)
      if relationship.isToMany {
        related += object.resolved(relationship).relatedIDs
      } else if case .object(let other) = object.value(at: relationship.slot) {
        related.append(other)
      }
    }
    return related
  }
}
