/// Applies the model's delete rules, and removes references to deleted objects.
///
/// Deleted objects leave no reference behind. Where a rule nullifies a relationship, the other object changes like any other.
/// The rest are relationships without an inverse, those whose rule is to do nothing, and unsaved changes that point to
/// objects which another context deleted. Stores do the same with their rows.
struct DeleteRules {
  let context: ManagedObjectContext
  private var changeSet: ChangeSet { context.changeSet }

  init(_ context: ManagedObjectContext) { self.context = context }

  // MARK: Rules

  /// Applies the rules to the objects that were deleted since the last call, until nothing more follows.
  func propagate() {
    changeSet.propagateDeletions { object in
      guard object.state == .deleted, object.deletion != .ofInaccessibleFault else { return true }
      if object.deletion == .ofUnsaved {
        drop(object)
        return true
      }
      if object.isUnfilled { context.fulfill(object) }
      // The store can't be read. The next save throws its error, and the rules are applied once it can be read.
      if object.isUnfilled { return false }
      if object.committed.isEmpty { object.committed = object.slots }
      apply(to: object)
      return true
    }
  }

  /// Drops an object that was never saved, and deletes what hangs on it by a cascade.
  private func drop(_ object: ManagedObject) {
    let dependents = object.entity.relationships.filter { $0.deleteRule == .cascade }.flatMap {
      context.related(to: object, by: $0)
    }
    context.detachInverses(of: object)
    object.state = .detached
    context.registry.remove(object)
    for dependent in dependents { context.delete(dependent) }
  }

  private func apply(to object: ManagedObject) {
    for relationship in object.entity.relationships {
      switch relationship.deleteRule {
      case .noAction, .deny: break
      case .cascade: for other in context.related(to: object, by: relationship) { context.delete(other) }
      case .nullify:
        for other in context.related(to: object, by: relationship) { unlink(other, from: object, relationship) }
      }
    }
  }

  private func unlink(_ other: ManagedObject, from object: ManagedObject, _ relationship: RelationshipDescription) {
    guard let inverse = relationship.inverseRelationship, other.state != .deleted, other.state != .detached else {
      return
    }
    if inverse.isManyToMany {
      other.remove(object, from: inverse.slot)
    } else if inverse.isToMany {
      // From the member's end, so that a set which hasn't been read stays so.
      if object.value(at: relationship.slot) == .object(other.id) { object.point(relationship, to: nil) }
    } else if other.value(at: inverse.slot) == .object(object.id) {
      other.point(inverse, to: nil)
    }
  }

  /// The failures of all deletions that a rule denies, once every deletion is known.
  func denials() -> [ValidationFailure] { changeSet.deletions.flatMap { denials(of: $0) } }

  /// The failures of an object's deletion that a rule denies.
  func denials(of object: ManagedObject) -> [ValidationFailure] {
    var denied: [ValidationFailure] = []
    if object.deletion == .ofInaccessibleFault { return [] }
    for relationship in object.entity.relationships where relationship.deleteRule == .deny {
      if context.related(to: object, by: relationship).contains(where: { $0.state != .deleted && $0.state != .detached }
      ) {
        denied.append(
          .init(entity: object.entity, objectID: object.id, property: relationship.name, reason: .deleteDenied))
      }
    }
    return denied
  }

  // MARK: References

  /// Removes references to objects that the save deletes from the changes that it writes.
  func removeReferencesFromChanges() {
    guard !changeSet.deletions.isEmpty || changeSet.hasVoidInsertions else { return }
    // A reference to a row that was gone before is broken, which the store reports.
    var deleted = Set(changeSet.deletions.lazy.filter { $0.deletion != .ofInaccessibleFault }.map(\.id))
    for object in changeSet.insertions where object.state == .detached { deleted.insert(object.id) }
    for object in changeSet.insertionsAndUpdates where object.state == .inserted || object.state == .updated {
      object.slots.removeReferences(to: deleted, object.entity.relationships)
    }
  }

  /// Removes references to rows that are gone from the store from the registered objects, as the store did with its rows.
  ///
  /// Nothing is read. Objects without changes are examined only when the model has relationships that the delete rules don't
  /// reach.
  func removeReferences(to deleted: Set<ManagedObjectID>) {
    guard !deleted.isEmpty else { return }
    let isReferredTo = Set(deleted.map(\.entity)).contains { !$0.looseReferences.isEmpty }
    let objects = isReferredTo ? context.registry.objects : Array(changeSet.insertionsAndUpdates)
    for object in objects where object.state != .detached {
      guard !object.isUnfilled else {
        object.forgetPartialValues()
        continue
      }
      var isChanged =
        object.content.refers(to: deleted, object.entity.relationships)
        && object.slots.removeReferences(to: deleted, object.entity.relationships)
      if !object.committed.isEmpty {
        isChanged = object.committed.removeReferences(to: deleted, object.entity.relationships) || isChanged
      }
      if isChanged { context.notifier.noteRefreshed(object) }
    }
  }
}

extension ManagedObject {
  /// Whether a to-many relationship has been read.
  final func hasResolved(_ relationship: RelationshipDescription) -> Bool {
    if isUnfilled { return false }
    return content[relationship.slot].isSet
  }
}

extension RowValues {
  /// Whether the slot or set of a relationship has one of the IDs.
  fileprivate func refers(to ids: Set<ManagedObjectID>, _ relationships: [RelationshipDescription]) -> Bool {
    relationships.contains { relationship in
      switch self[relationship.slot] {
      case .object(let id): ids.contains(id)
      case .objects(let held): !held.isDisjoint(with: ids)
      case .orderedObjects(let held): held.contains(where: ids.contains)
      default: false
      }
    }
  }
}

extension ContiguousArray where Element == Value {
  /// Removes IDs from the slots and sets of relationships. Returns whether there were any.
  @discardableResult
  fileprivate mutating func removeReferences(
    to ids: Set<ManagedObjectID>, _ relationships: [RelationshipDescription]
  ) -> Bool {
    var isChanged = false
    for relationship in relationships {
      switch self[relationship.slot] {
      case .object(let id) where ids.contains(id):
        self[relationship.slot] = .null
        isChanged = true
      case .objects(let held) where !held.isDisjoint(with: ids):
        self[relationship.slot] = self[relationship.slot].subtracting(ids)
        isChanged = true
      case .orderedObjects(let held) where held.contains(where: ids.contains):
        self[relationship.slot] = self[relationship.slot].subtracting(ids)
        isChanged = true
      default: break
      }
    }
    return isChanged
  }
}
