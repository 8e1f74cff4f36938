public import Foundation

extension ManagedObjectContext {
  /// Posted by a context before it saves, on its queue; `object` is the context.
  public static let willSaveObjectsNotification = Notification.Name("NSManagedObjectContextWillSaveNotification")
  /// Posted by a context after it saved, on its queue; `object` is the context. ``ContextSave`` is its typed form.
  public static let didSaveObjectsNotification = Notification.Name("NSManagingContextDidSaveChangesNotification")
  /// Posted by a context right after ``didSaveObjectsNotification``, with IDs, which may be taken anywhere.
  ///
  /// An import, whose context nobody watches, doesn't post it.
  public static let didSaveObjectIDsNotification = Notification.Name(
    "NSManagedObjectContextDidSaveObjectIDsNotification")
  /// Posted by a context when objects of it have changed since the last time: at the end of each `perform`, on a save,
  /// and on ``processPendingChanges()``. ``ContextChanges`` is its typed form.
  public static let didChangeObjectsNotification = Notification.Name("NSObjectsChangedInManagingContextNotification")
  /// Posted by a context after it has merged another one's save.
  public static let didMergeChangesObjectIDsNotification = Notification.Name(
    "NSManagedObjectContextDidMergeChangesObjectIDsNotification")

  /// Keys of the notifications' user info, by Core Data's names.
  ///
  /// The values are arrays (of a save, contiguous ones), in the order of the changes, where Core Data has sets:
  /// announcing a large save costs no hashing. Objects belong to the context that posts; IDs can be taken elsewhere.
  public enum NotificationKey: String, Sendable {
    /// New objects.
    case insertedObjects = "inserted"
    /// Changed objects.
    case updatedObjects = "updated"
    /// Deleted objects.
    case deletedObjects = "deleted"
    /// Objects that took on what the store has: after a merge, a refresh, a rollback.
    case refreshedObjects = "refreshed"
    /// Those of the deleted objects whose row the store turned out to have no more.
    case invalidatedObjects = "invalidated"
    /// `true` when the context was reset, and of a save that was too large to tell its rows.
    case invalidatedAllObjects = "invalidatedAll"
    /// IDs of the objects that were inserted.
    case insertedObjectIDs = "inserted_objectIDs"
    /// IDs of the objects that were changed.
    case updatedObjectIDs = "updated_objectIDs"
    /// IDs of the objects that were deleted.
    case deletedObjectIDs = "deleted_objectIDs"
    /// IDs of the objects of which the save changed no more than derived attributes.
    case refreshedObjectIDs = "refreshed_objectIDs"
    /// In a remote save: IDs of objects whose rows aren't what they were.
    case invalidatedObjectIDs = "invalidated_objectIDs"
  }

  static let saveKey = "save"

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
    NotificationCenter.default.post(
      name: Self.didMergeChangesObjectIDsNotification, object: self, userInfo: save.objectIDInfo)
  }

  func post(_ changes: ContextChanges) {
    let info = changes.userInfo
    guard !info.isEmpty else { return }
    NotificationCenter.default.post(name: Self.didChangeObjectsNotification, object: self, userInfo: info)
  }
}
