/// What one event changed, as it is taken back: by property, so that what somebody else changed meanwhile stays.
struct UndoStep {
  /// An object and what it held before, in the slots that are different since.
  struct Change {
    let object: ManagedObject
    let values: [(slot: Int, former: Value, now: Value)]
  }

  let inserted: [ManagedObject]
  let removed: [ManagedObject]
  let changes: [Change]

  /// The step of an event; nil when it changed nothing that could be taken back.
  init?(_ pending: PendingChanges) {
    let isNew = Set(pending.inserted.map(ObjectIdentifier.init))
    inserted = pending.inserted.filter { $0.state != .detached }.map { $0 }
    removed = pending.removed.filter { !isNew.contains(ObjectIdentifier($0)) }.map { $0 }
    changes = pending.formers.compactMap { former in
      guard !former.values.isEmpty, !isNew.contains(ObjectIdentifier(former.object)) else { return nil }
      return Change(object: former.object, values: former.object.difference(to: former.values))
    }
    if inserted.isEmpty, removed.isEmpty, changes.allSatisfy(\.values.isEmpty) { return nil }
  }
}

extension ManagedObject {
  /// What differs from former values. Sets that the other end decides, and those that one side hadn't read, don't count.
  fileprivate final func difference(
    to former: ContiguousArray<Value>
  ) -> [(slot: Int, former: Value, now: Value)] {
    entity.properties.compactMap { property in
      let (before, now) = (former[property.slot], slots[property.slot])
      if before == now || before == .unresolved || now == .unresolved { return nil }
      if let relationship = property as? RelationshipDescription, relationship.isToMany, !relationship.isManyToMany,
        !relationship.isOrdered
      {
        return nil
      }
      if let attribute = property as? AttributeDescription, attribute.definition.derivationExpression != nil {
        return nil
      }
      return (property.slot, before, now)
    }
  }
}
