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
    /// IDs of the objects that another context inserted.
    case insertedObjectIDs = "inserted_objectIDs"
    /// IDs of the objects that another context changed.
    case updatedObjectIDs = "updated_objectIDs"
    /// IDs of the objects that another context deleted.
    case deletedObjectIDs = "deleted_objectIDs"
  }

  static let saveKey = "save"

  /// Applies the delete rules to what was deleted since the last time, and announces what has changed with one
  /// did-change notification.
  /// Source: `processPendingChanges()` of Core Data.
  public func processPendingChanges() {
    home.check()
    guard !pending.isEmpty else { return observers.didProcess(PendingChanges()) }
    propagateDeletes()
    let changes = pending
    pending = PendingChanges()
    for object in changes.updated { object.isChangePending = false }
    let refreshed = Set(changes.refreshed.map(ObjectIdentifier.init))
    let inserted = changes.inserted.filter { $0.state != .detached }
    let updated = changes.updated.filter { object in
      switch object.state {
      case .inserted, .deleted, .detached: return false
      // A set that nobody has read changed, which leaves the object clean; or a change was taken back.
      case .clean: return !refreshed.contains(ObjectIdentifier(object))
      case .updated: return true
      }
    }
    post(
      Self.didChangeObjectsNotification,
      [
        .insertedObjects: Array(inserted), .updatedObjects: Array(updated), .deletedObjects: Array(changes.deleted),
        .refreshedObjects: changes.refreshed.filter { $0.state != .detached && $0.state != .deleted }.uniqued(),
      ])
    observers.didProcess(changes)
  }

  func postWillSave() {
    NotificationCenter.default.post(name: Self.willSaveObjectsNotification, object: self)
  }

  func postDidSave(
    _ save: ContextSave, inserted: ContiguousArray<ManagedObject>, updated: ContiguousArray<ManagedObject>,
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

extension ContiguousArray where Element: ManagedObject {
  /// Its objects in their order, each once.
  fileprivate func uniqued() -> [Element] {
    var seen: Set<ObjectIdentifier> = []
    return filter { seen.insert(ObjectIdentifier($0)).inserted }.map { $0 }
  }
}
