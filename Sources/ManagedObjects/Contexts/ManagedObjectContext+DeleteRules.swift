extension ManagedObjectContext {
  /// Applies the model's delete rules to what was marked for deletion since the last time, until nothing more follows.
  func propagateDeletes() {
    var next = 0
    defer { newDeletions.removeFirst(next) }
    while next < newDeletions.count {
      let object = newDeletions[next]
      if object.state == .deleted {
        if object.isUnfilled { fulfill(object) }
        // The store can't be read: the next save tells why, and the rules are applied once it can.
        if object.isUnfilled { return }
        if object.committed.isEmpty { object.committed = object.slots }
        applyRules(to: object)
      }
      next += 1
    }
  }

  private func applyRules(to object: ManagedObject) {
    for relationship in object.entity.relationships {
      switch relationship.deleteRule {
      case .noAction, .deny: break
      case .cascade: for other in related(to: object, by: relationship) { delete(other) }
      case .nullify: for other in related(to: object, by: relationship) { unlink(other, from: object, relationship) }
      }
    }
  }

  /// What denies a deletion, now that everything that is deleted is known.
  func deniedDeletions() -> [ValidationFailure] { deletions.flatMap { denials(of: $0) } }

  /// What denies an object's deletion.
  func denials(of object: ManagedObject) -> [ValidationFailure] {
    var denied: [ValidationFailure] = []
    for relationship in object.entity.relationships where relationship.deleteRule == .deny {
      if related(to: object, by: relationship).contains(where: { $0.state != .deleted && $0.state != .detached }) {
        denied.append(
          .init(entity: object.entity, objectID: object.id, property: relationship.name, reason: .deleteDenied))
      }
    }
    return denied
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
    return slots[relationship.slot].isSet
  }
}
