public import Foundation

extension ManagedObjectContext {
  /// Posted by a context before it saves, on its queue; `object` is the context.
  public static let willSaveObjectsNotification = Notification.Name("NSManagedObjectContextWillSaveNotification")
  /// Posted by a context after it saved, on its queue; `object` is the context. ``ContextSave`` is its typed form.
  public static let didSaveObjectsNotification = Notification.Name("NSManagingContextDidSaveChangesNotification")
  /// Posted by a context when objects of it have changed since the last time: at the end of each `perform`, on a save,
  /// and on ``processPendingChanges()``.
  public static let didChangeObjectsNotification = Notification.Name("NSObjectsChangedInManagingContextNotification")
  /// Posted by a context after it has merged another one's save.
  public static let didMergeChangesObjectIDsNotification = Notification.Name(
    "NSManagedObjectContextDidMergeChangesObjectIDsNotification")

  /// Keys of the notifications' user info, by Core Data's names.
  ///
  /// The values are arrays (of a save, contiguous ones), in the order of the changes, where Core Data has sets: announcing a large save costs no
  /// hashing. Objects belong to the context that posts; IDs can be taken elsewhere.
  public enum NotificationKey: String, Sendable {
    case insertedObjects = "inserted"
    case updatedObjects = "updated"
    case deletedObjects = "deleted"
    case refreshedObjects = "refreshed"
    case insertedObjectIDs = "inserted_objectIDs"
    case updatedObjectIDs = "updated_objectIDs"
    case deletedObjectIDs = "deleted_objectIDs"
  }

  static let saveKey = "save"

  /// Announces what has changed since the last time with one did-change notification.
  /// Source: `processPendingChanges()` of Core Data.
  public func processPendingChanges() {
    home.check()
    guard !pending.isEmpty else { return }
    let changes = pending
    pending = PendingChanges()
    for object in changes.updated { object.isChangePending = false }
    let isNew = { (object: ManagedObject) in object.state == .inserted }
    let inserted = changes.inserted.filter { $0.state != .detached }
    let updated = changes.updated.filter { !isNew($0) && $0.state != .deleted && $0.state != .detached }
    post(
      Self.didChangeObjectsNotification,
      [
        .insertedObjects: Array(inserted), .updatedObjects: Array(updated), .deletedObjects: Array(changes.deleted),
        .refreshedObjects: Array(changes.refreshed),
      ])
  }

  func postWillSave() {
    NotificationCenter.default.post(name: Self.willSaveObjectsNotification, object: self)
  }

  func postDidSave(
    _ save: ContextSave, inserted: ContiguousArray<ManagedObject>, updated: [ManagedObject],
    deleted: ContiguousArray<ManagedObject>
  ) {
    NotificationCenter.default.post(
      name: Self.didSaveObjectsNotification, object: self,
      userInfo: [
        Self.saveKey: save, NotificationKey.insertedObjects.rawValue: inserted,
        NotificationKey.updatedObjects.rawValue: updated, NotificationKey.deletedObjects.rawValue: deleted,
      ])
  }

  func postDidMerge(_ save: ContextSave) {
    NotificationCenter.default.post(
      name: Self.didMergeChangesObjectIDsNotification, object: self,
      userInfo: [
        NotificationKey.insertedObjectIDs.rawValue: save.insertedObjectIDs,
        NotificationKey.updatedObjectIDs.rawValue: save.updatedObjectIDs,
        NotificationKey.deletedObjectIDs.rawValue: save.deletedObjectIDs,
      ])
  }

  private func post(_ name: Notification.Name, _ objects: [NotificationKey: [ManagedObject]]) {
    var info: [AnyHashable: Any] = [:]
    for (key, objects) in objects where !objects.isEmpty { info[key.rawValue] = objects }
    guard !info.isEmpty else { return }
    NotificationCenter.default.post(name: name, object: self, userInfo: info)
  }
}
