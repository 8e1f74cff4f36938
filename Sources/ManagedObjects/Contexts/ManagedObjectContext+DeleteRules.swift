extension ManagedObjectContext {
  /// Applies the model's delete rules to what is marked for deletion, until nothing more follows.
  /// - Throws: ``ManagedObjectError/validation(_:)`` with every deletion that a rule denies.
  func applyDeleteRules() throws {
    var denied: [ValidationFailure] = []
    var next = 0
    while next < deletions.count {
      let object = deletions[next]
      next += 1
      if object.isUnfilled { fulfill(object) }
      if object.committed.isEmpty { object.committed = object.slots }
      for relationship in object.entity.relationships {
        let others = related(to: object, by: relationship)
        if others.isEmpty { continue }
        switch relationship.deleteRule {
        case .noAction: break
        case .cascade: for other in others { delete(other) }
        case .nullify: for other in others { unlink(other, from: object, relationship) }
        case .deny:
          if others.contains(where: { $0.state != .deleted }) {
            denied.append(.init(entity: object.entity, objectID: object.id, property: relationship.name, reason: .deleteDenied))
          }
        }
      }
    }
    guard denied.isEmpty else { throw ManagedObjectError.validation(denied) }
  }

  private func related(to object: ManagedObject, by relationship: RelationshipDescription) -> [ManagedObject] {
    if relationship.isToMany { return object.resolvedIDs(relationship).map { self.object(with: $0) } }
    guard case .object(let id) = object.value(at: relationship.slot) else { return [] }
    return [self.object(with: id)]
  }

  private func unlink(_ other: ManagedObject, from object: ManagedObject, _ relationship: RelationshipDescription) {
    guard let inverse = relationship.inverseRelationship, other.state != .deleted, other.state != .detached else {
      return
    }
    if inverse.isToMany {
      // A set that nobody has read needs no change: the row that pointed into it goes.
      guard inverse.isManyToMany || other.hasResolved(inverse) else { return }
      other.remove(object, from: inverse.slot)
    } else if other.value(at: inverse.slot) == .object(object.id) {
      other.point(inverse, to: nil)
    }
  }
}

extension ManagedObject {
  /// Whether a to-many relationship has been read.
  final func hasResolved(_ relationship: RelationshipDescription) -> Bool {
    if isUnfilled { return false }
    if case .objects = slots[relationship.slot] { return true }
    return false
  }
}
