public import Foundation

/// What has changed in a context since the last time: the typed form of the did-change notification.
///
/// It holds objects of the context and stays on the context's queue, where the notification is posted. ``ContextSave`` is
/// what crosses to other contexts.
public struct ContextChanges {
  /// The context.
  public let context: ManagedObjectContext
  /// New objects, in the order of their insertion.
  public internal(set) var inserted: [ManagedObject] = []
  /// Changed objects.
  public internal(set) var updated: [ManagedObject] = []
  /// Objects that were deleted here, or turned out to be deleted elsewhere.
  public internal(set) var deleted: [ManagedObject] = []
  /// Objects that took on what the store has: after a merge, a refresh, a rollback.
  public internal(set) var refreshed: [ManagedObject] = []
  /// Those of the deleted objects whose row the store turned out to have no more when it was to be read.
  public internal(set) var invalidated: [ManagedObject] = []
  /// Whether the context was reset, so that none of its objects can be used any more.
  public internal(set) var isAllInvalidated = false

  init(resetOf context: ManagedObjectContext) {
    self.context = context
    isAllInvalidated = true
  }

  /// What a did-change notification tells; nil for any other notification.
  public init?(_ notification: Notification) {
    guard notification.name == ManagedObjectContext.didChangeObjectsNotification,
      let context = notification.object as? ManagedObjectContext
    else { return nil }
    self.context = context
    func objects(_ key: ManagedObjectContext.NotificationKey) -> [ManagedObject] {
      notification.userInfo?[key.rawValue] as? [ManagedObject] ?? []
    }
    inserted = objects(.insertedObjects)
    updated = objects(.updatedObjects)
    deleted = objects(.deletedObjects)
    refreshed = objects(.refreshedObjects)
    invalidated = objects(.invalidatedObjects)
    isAllInvalidated =
      notification.userInfo?[ManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue] != nil
  }

  /// The notification's user info: only what isn't empty.
  var userInfo: [AnyHashable: Any] {
    var info: [AnyHashable: Any] = [:]
    func put(_ key: ManagedObjectContext.NotificationKey, _ objects: [ManagedObject]) {
      if !objects.isEmpty { info[key.rawValue] = objects }
    }
    put(.insertedObjects, inserted)
    put(.updatedObjects, updated)
    put(.deletedObjects, deleted)
    put(.refreshedObjects, refreshed)
    put(.invalidatedObjects, invalidated)
    if isAllInvalidated { info[ManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue] = true }
    return info
  }
}
