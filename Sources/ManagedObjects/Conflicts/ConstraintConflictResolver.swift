/// Settles conflicts over unique values.
///
/// A new object whose unique values belong to a row already *becomes* that row. It gives up its relationships, and takes the
/// row's ID and values. Then those of its own values that win are set as any program would set them, so inverses, change
/// tracking and notifications follow by themselves. Finally, one pass over the changed objects redirects references to its
/// former ID, however many conflicts there are.
struct ConstraintConflictResolver {
  let context: ManagedObjectContext
  private var registry: ObjectRegistry { context.registry }

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Settles the conflicts by a policy.
  func resolve(_ conflicts: [ConstraintConflict], by type: MergePolicy.MergeType) throws {
    var settled: Set<ManagedObjectID> = []
    var merged = MergedIDs()
    for conflict in conflicts where !settled.contains(conflict.objectID) {
      guard let object = registry.object(with: conflict.objectID) else { continue }
      // A taken row number, which isn't a value of the model, can't be settled.
      guard let inTheWay = conflict.database?.id ?? conflict.earlier?.id else {
        throw ManagedObjectError.constraintConflicts(conflicts)
      }
      settled.insert(conflict.objectID)
      let other = merged.current(inTheWay)
      switch object.state {
      case .inserted:
        try settle(object, other, stored: conflict.database, by: type, &merged)
      case .updated where type == .mergeByPropertyObjectTrump || type == .overwrite:
        context.delete(context.object(with: other))
      case .updated where type == .mergeByPropertyStoreTrump:
        for name in conflict.constraint {
          if let property = object.entity.propertiesByName[name] { object.revert(property) }
        }
      case .updated: MergeConflictResolver(context).revert(object, to: nil)
      case .clean, .deleted, .detached: break
      }
    }
    context.changeSet.noteVoidInsertion()
    context.changeSet.removeUpdates { $0.state != .updated }
    redirectReferences(merged)
  }

  private func settle(
    _ object: ManagedObject, _ other: ManagedObjectID, stored: StoreRow?, by type: MergePolicy.MergeType,
    _ merged: inout MergedIDs
  ) throws {
    let entity = registry.object(with: other)?.entity ?? stored?.id.entity ?? other.entity
    guard entity === object.entity else {
      // A row can't change its entity: one of the two is deleted.
      if type == .mergeByPropertyObjectTrump || type == .overwrite {
        context.delete(context.object(with: other))
      } else {
        context.delete(object)
      }
      return
    }
    let mine = detachRelationships(of: object)
    let former = object.id
    let target = try row(other, stored: stored, for: object)
    merged.note(former, target.id)
    if !target.id.isTemporaryID {
      registry.note(target.id, for: former)
      context.children.promote(PermanentIDs([former: target.id]))
    }
    target.take(mine, of: entity, by: type, merged)
    if entity.hasOwnClass { context.callbacks.awake(target, from: .mergePolicy) }
  }

  /// Clears the relationships of a new object, with their inverses. Returns its values.
  private func detachRelationships(of object: ManagedObject) -> ContiguousArray<Value> {
    let mine = object.slots
    for relationship in object.entity.relationships {
      switch mine[relationship.slot] {
      case .object: object.point(relationship, to: nil)
      case let set where relationship.isManyToMany:
        for id in set.orderedIDs { object.unlink(relationship, context.object(with: id)) }
      default: break
      }
    }
    return mine
  }

  /// The object that stands for a row from now on: the registered one if something holds it, otherwise the new one.
  private func row(_ id: ManagedObjectID, stored: StoreRow?, for object: ManagedObject) throws -> ManagedObject {
    if let (known, isAlone) = registry.objectAlone(with: id), !isAlone || known.state != .clean {
      if let stored { update(known, from: stored) }
      // The new object may have brought members of its sets.
      for relationship in known.entity.relationships where relationship.isToMany && !relationship.isManyToMany {
        if known.state == .inserted {
          for member in object.slots[relationship.slot].orderedIDs { known.slots[relationship.slot].insert(member) }
          continue
        }
        known.slots[relationship.slot] = .unresolved
        if !known.committed.isEmpty { known.committed[relationship.slot] = .unresolved }
      }
      object.state = .detached
      registry.remove(object)
      context.notifier.noteDeleted(object)
      return known
    }
    guard let stored = try stored ?? context.rowSource.latest.rows(with: [id]).first else {
      throw ManagedObjectError.objectNotFound(id)
    }
    if let unheld = registry.object(with: id) {
      unheld.state = .detached
      registry.remove(unheld)
    }
    for attribute in object.entity.attributes where !attribute.isTransient {
      object.slots[attribute.slot] = stored.values[attribute.slot]
    }
    for relationship in object.entity.relationships where !relationship.isTransient {
      object.slots[relationship.slot] = stored.values[relationship.slot]
    }
    object.committed = []
    object.state = .clean
    registry.rename(object, to: stored.id)
    context.notifier.noteRefreshed(object)
    return object
  }

  /// Updates an object from its row.
  private func update(_ object: ManagedObject, from stored: StoreRow) {
    if object.isUnfilled {
      object.slots = stored.values
      object.isUnfilled = false
      if object.state == .updated { context.noteFilled(object) }
    } else {
      let former = object.committed.isEmpty ? object.slots : object.committed
      SaveMerger(context).merge(StoreChanges.Update(id: object.id, values: stored.values, committed: former))
    }
  }

  /// Redirects every reference to an object that has become another row to that row.
  private func redirectReferences(_ merged: MergedIDs) {
    guard !merged.isEmpty else { return }
    for object in context.changeSet.insertionsAndUpdates where object.state == .inserted || object.state == .updated {
      for relationship in object.entity.relationships {
        switch object.slots[relationship.slot] {
        case .object(let id):
          let current = merged.current(id)
          if current != id { object.slots[relationship.slot] = .object(current) }
        case let set where set.orderedIDs.contains { merged.current($0) != $0 }:
          object.slots[relationship.slot] = set.mappingIDs { merged.current($0) }
        default: break
        }
      }
    }
  }
}

/// The IDs of objects that have become another row.
private struct MergedIDs {
  private var ids: [ManagedObjectID: ManagedObjectID] = [:]
  var isEmpty: Bool { ids.isEmpty }

  mutating func note(_ former: ManagedObjectID, _ id: ManagedObjectID) {
    if former != id { ids[former] = id }
  }

  /// The object's current ID. One object may become another that becomes a third.
  func current(_ id: ManagedObjectID) -> ManagedObjectID {
    var id = id
    while let next = ids[id] { id = next }
    return id
  }
}

extension ManagedObject {
  /// Sets those of a new object's values that win against the row that it has become.
  fileprivate final func take(
    _ mine: ContiguousArray<Value>, of entity: EntityDescription, by type: MergePolicy.MergeType, _ merged: MergedIDs
  ) {
    let standard = entity.initialValues
    func wins(_ slot: Int) -> Bool {
      type.takes(mine[slot], over: slots[slot], standard: standard[slot])
    }
    for attribute in entity.attributes where !attribute.isDerived {
      if attribute.isTransient { continue }
      if wins(attribute.slot) { setValue(mine[attribute.slot], at: attribute.slot) }
    }
    for relationship in entity.relationships where !relationship.isTransient {
      switch mine[relationship.slot] {
      case .object(let id): if wins(relationship.slot) { point(relationship, to: merged.current(id)) }
      case .null where !relationship.isToMany: if wins(relationship.slot) { point(relationship, to: nil) }
      case let set where relationship.isManyToMany && type != .rollback:
        guard let context = confinement.context, set.objectCount ?? 0 > 0 || type == .overwrite else { continue }
        let now = set.orderedIDs.map { merged.current($0) }
        if type == .overwrite {
          for id in resolvedIDs(relationship).subtracting(now) { unlink(relationship, context.object(with: id)) }
        }
        for id in now { link(relationship, context.object(with: id)) }
      default: break
      }
    }
  }
}

extension Value {
  /// The IDs that a to-many relationship holds, in its order if it has one; none for other values.
  fileprivate var orderedIDs: [ManagedObjectID] {
    switch self {
    case .objects(let ids): return Array(ids)
    case .orderedObjects(let ids): return Array(ids)
    default: return []
    }
  }
}

extension MergePolicy.MergeType {
  /// Whether a new object's value replaces that of the row with the same unique values. A value that differs from the
  /// model's default counts as changed.
  package func takes(_ mine: Value, over stored: Value, standard: Value) -> Bool {
    switch self {
    case .error, .rollback: return false
    case .overwrite: return true
    case .mergeByPropertyObjectTrump: return mine != standard
    case .mergeByPropertyStoreTrump: return mine != standard && stored == standard
    }
  }
}
