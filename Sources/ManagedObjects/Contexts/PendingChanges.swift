/// What a context hasn't announced yet: the changes since the last did-change notification.
struct PendingChanges {
  /// A saved or announced object as it was before its first change.
  struct Former {
    let object: ManagedObject
    let state: ManagedObject.State
    /// The values, which are shared with the object until it changes; empty of a fault.
    let values: ContiguousArray<Value>
  }

  private(set) var inserted: ContiguousArray<ManagedObject> = []
  /// Objects that were changed, or whose sets that nobody has read were; also some that were deleted.
  private(set) var formers: ContiguousArray<Former> = []
  private(set) var deleted: ContiguousArray<ManagedObject> = []
  private(set) var refreshed: ContiguousArray<ManagedObject> = []
  /// Objects whose rows the store turned out to have no more.
  private(set) var invalidated: ContiguousArray<ManagedObject> = []
  /// Objects that the program deleted, or a delete rule, while changes can be undone.
  private(set) var removed: ContiguousArray<ManagedObject> = []

  var isEmpty: Bool { inserted.isEmpty && formers.isEmpty && deleted.isEmpty && refreshed.isEmpty }

  /// The objects that were changed.
  var updated: ContiguousArray<ManagedObject> { ContiguousArray(formers.lazy.map(\.object)) }

  mutating func noteInserted(_ object: ManagedObject) { inserted.append(object) }
  mutating func noteUpdated(_ object: ManagedObject) {
    formers.append(Former(object: object, state: object.state, values: object.isUnfilled ? [] : object.slots))
  }
  mutating func noteDeleted(_ object: ManagedObject) { deleted.append(object) }
  mutating func noteRemoved(_ object: ManagedObject) { removed.append(object) }
  mutating func noteRefreshed(_ object: ManagedObject) { refreshed.append(object) }

  /// Keeps what is to be announced and forgets how things were.
  mutating func forgetSteps() {
    for former in formers { former.object.isChangePending = false }
    formers.removeAll()
    removed.removeAll()
  }

  mutating func noteInvalidated(_ object: ManagedObject) {
    deleted.append(object)
    invalidated.append(object)
  }
}
