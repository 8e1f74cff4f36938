public import Foundation

extension ManagedObjectContext {
  /// Posted by a context before it saves, on its queue; `object` is the context.
  public static let willSaveObjectsNotification = Notification.Name("NSManagedObjectContextWillSaveNotification")
  /// Posted by a context after it saved, on its queue; `object` is the context. ``ContextSave`` is its typed form.
  public static let didSaveObjectsNotification = Notification.Name("NSManagingContextDidSaveChangesNotification")
  /// Posted by a context right after ``didSaveObjectsNotification``, with IDs, which may be taken anywhere.
  ///
  /// An import, whose context has no observers, doesn't post it.
  public static let didSaveObjectIDsNotification = Notification.Name(
    "NSManagedObjectContextDidSaveObjectIDsNotification")
  /// Posted by a context when its objects have changed since the last time: at the end of each `perform`, on a save, and on
  /// ``processPendingChanges()``. ``ContextChanges`` is its typed form.
  public static let didChangeObjectsNotification = Notification.Name("NSObjectsChangedInManagingContextNotification")
  /// Posted by a context after it has merged another context's save, with IDs.
  public static let didMergeChangesObjectIDsNotification = Notification.Name(
    "NSManagedObjectContextDidMergeChangesObjectIDsNotification")

  /// Keys of the notifications' user info, by Core Data's names.
  ///
  /// The values are arrays (contiguous ones for a save) in the order of the changes, where Core Data has sets, so announcing a
  /// large save costs no hashing. Objects belong to the context that posts; IDs can be taken elsewhere.
  public enum NotificationKey: String, Sendable {
    /// New objects.
    case insertedObjects = "inserted"
    /// Changed objects.
    case updatedObjects = "updated"
    /// Deleted objects.
    case deletedObjects = "deleted"
    /// Objects that took on the store's values: after a merge, a refresh, a rollback.
    case refreshedObjects = "refreshed"
    /// Those of the deleted objects whose rows turned out to be gone from the store.
    case invalidatedObjects = "invalidated"
    /// `true` when the context was reset, and for a save that was too large to list its rows.
    case invalidatedAllObjects = "invalidatedAll"
    /// IDs of the inserted objects.
    case insertedObjectIDs = "inserted_objectIDs"
    /// IDs of the changed objects.
    case updatedObjectIDs = "updated_objectIDs"
    /// IDs of the deleted objects.
    case deletedObjectIDs = "deleted_objectIDs"
    /// IDs of the objects of which the save changed only derived attributes.
    case refreshedObjectIDs = "refreshed_objectIDs"
    /// In a remote save: IDs of objects whose rows have changed.
    case invalidatedObjectIDs = "invalidated_objectIDs"
  }

  static let saveKey = "save"

  /// Applies the delete rules to the objects deleted since the last call, unless they wait for the save, and announces the
  /// changes with one did-change notification. They make one step to undo.
  ///
  /// Called automatically at the end of each `perform`, and when the context saves, merges, undoes and redoes.
  /// Source: `processPendingChanges()` of Core Data.
  public func processPendingChanges() {
    confinement.check()
    guard !notifier.isEmpty else {
      undoManager?.endEvent()
      return notifier.didProcess(PendingChanges())
    }
    mergeQueue.suspended {
      if propagatesDeletesAtEndOfEvent { DeleteRules(self).propagate() }
      let changes = notifier.takeChanges()
      version.add(1, ordering: .relaxed)
      for former in changes.formers { former.object.isChangePending = false }
      for object in changes.inserted { object.isChangePending = false }
      undoRecorder.record(changes, self)
      post(ContextChanges(self, changes))
      notifier.didProcess(changes)
    }
  }

  func postWillSave() {
    NotificationCenter.default.post(name: Self.willSaveObjectsNotification, object: self)
  }

  func postDidSave(
    _ save: ContextSave, inserted: ContiguousArray<ManagedObject>, updated: ContiguousArray<ManagedObject>,
    deleted: ContiguousArray<ManagedObject>
  ) {
    var info: [AnyHashable: Any] = [
      Self.saveKey: save, NotificationKey.insertedObjects.rawValue: inserted,
      NotificationKey.updatedObjects.rawValue: updated, NotificationKey.deletedObjects.rawValue: deleted,
    ]
    if save.isWholesale { info[NotificationKey.invalidatedAllObjects.rawValue] = true }
    NotificationCenter.default.post(name: Self.didSaveObjectsNotification, object: self, userInfo: info)
    guard announcesChanges else { return }
    NotificationCenter.default.post(
      name: Self.didSaveObjectIDsNotification, object: self, userInfo: save.objectIDInfo)
  }

  func postDidMerge(_ save: ContextSave) {
    guard announcesChanges else { return }
    NotificationCenter.default.post(
      name: Self.didMergeChangesObjectIDsNotification, object: self, userInfo: save.objectIDInfo)
  }

  func post(_ changes: ContextChanges) {
    let info = changes.userInfo
    guard !info.isEmpty else { return }
    NotificationCenter.default.post(name: Self.didChangeObjectsNotification, object: self, userInfo: info)
  }
}
