/// What a context hasn't announced yet: the changes since the last did-change notification.
struct PendingChanges {
  private(set) var inserted: ContiguousArray<ManagedObject> = []
  private(set) var updated: ContiguousArray<ManagedObject> = []
  private(set) var deleted: ContiguousArray<ManagedObject> = []
  private(set) var refreshed: ContiguousArray<ManagedObject> = []

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty }

  mutating func noteInserted(_ object: ManagedObject) { inserted.append(object) }
  mutating func noteUpdated(_ object: ManagedObject) { updated.append(object) }
  mutating func noteDeleted(_ object: ManagedObject) { deleted.append(object) }
  mutating func noteRefreshed(_ object: ManagedObject) { refreshed.append(object) }
}
