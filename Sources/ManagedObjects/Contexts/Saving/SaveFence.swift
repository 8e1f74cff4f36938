// A fence keeps out a writer that doesn't know that another has taken its place. It is a row beside the data: the new writer
// changes it, and each save of the former one compares it, in the transaction of the rows. A store locks what it compares until
// the commit, so a change of the fence comes either before a save, which fails then, or after all of it.

/// A row that must be as it was read for a context to save: see ``ManagedObjectContext/fence``.
package struct SaveFence: Sendable {
  package let id: ManagedObjectID
  private let values: ContiguousArray<Value>

  /// The fence that an object is which has no changes.
  package init(_ object: ManagedObject) {
    id = object.objectID
    values = object.slots
  }

  /// What has stores compare the row: a change that changes nothing.
  var update: StoreChanges.Update { .init(id: id, values: values, committed: values) }
}

/// A save was refused because the row that is the context's fence isn't as it was read any more: another writes in its place.
package struct SupersededSave: Error, Equatable, CustomStringConvertible {
  /// The row.
  package let fence: ManagedObjectID

  package var description: String {
    "nothing was saved, for another works in the place of this writer: \(fence) has changed"
  }
}
