// A context that saves may not have merged yet what others saved before: such a save came by while it was saving, and waits,
// or the context that made it hasn't told it yet. Merged then, it would bring back what has been overwritten. So the context
// remembers the rows of its own save until everything that precedes it has been merged: they are as it saved them. The store
// has seen to it that it knew what the others wrote into them, the sets of many-to-many relationships excepted, which are
// merged all the same.

/// A save of a context, from when it is made until those that precede it are merged.
struct LaterSave {
  let number: Int64
  /// The rows that it wrote.
  let rows: Set<ManagedObjectID>
  /// The rows of which it changed derived attributes.
  let refreshed: Set<ManagedObjectID>

  init(_ save: ContextSave) {
    number = save.number
    rows = Set(save.insertedObjectIDs).union(save.updatedObjectIDs).union(save.deletedObjectIDs)
    refreshed = Set(save.refreshedObjectIDs)
  }
}

extension ManagedObjectContext {
  /// A save of somebody else's without what this context has saved later.
  func withoutLaterSaves(_ save: ContextSave) -> ContextSave {
    laterSaves.removeAll { $0.number < save.number }
    return laterSaves.reduce(save) { $0.seen(by: self, before: $1) }
  }
}

extension ContiguousArray where Element == Value {
  /// Takes over other values of the same row in all slots but those of sets.
  mutating func takeOverSingleValues(of values: ContiguousArray<Value>, _ entity: EntityDescription) {
    for property in entity.properties where !property.holdsSet { self[property.slot] = values[property.slot] }
  }
}
