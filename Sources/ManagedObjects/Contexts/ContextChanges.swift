public import Foundation

/// The changes in a context since the last announcement: the typed form of the did-change notification.
///
/// It holds objects of the context and stays on the context's queue, where the notification is posted. ``ContextSave``
/// crosses to other contexts.
public struct ContextChanges {
  /// The context.
  public let context: ManagedObjectContext
  /// New objects, in the order of their insertion.
  public private(set) var inserted: [ManagedObject] = []
  /// Changed objects.
  public private(set) var updated: [ManagedObject] = []
  /// Objects that were deleted here, or have turned out to be deleted elsewhere.
  public private(set) var deleted: [ManagedObject] = []
  /// Objects that took on the store's values: after a merge, a refresh, a rollback.
  public private(set) var refreshed: [ManagedObject] = []
  /// Those of the deleted objects whose rows turned out to be gone when they were read.
  public private(set) var invalidated: [ManagedObject] = []
  /// Whether the context was reset. None of its objects can be used any more.
  public private(set) var isAllInvalidated = false

  /// The announcement of a reset.
  init(resetOf context: ManagedObjectContext) {
    self.context = context
    isAllInvalidated = true
  }

  /// The changes that a did-change notification announces; nil for any other notification.
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

  /// The announcement of pending changes: each object once under each heading, and none that was inserted and deleted again.
  init(_ context: ManagedObjectContext, _ changes: PendingChanges) {
    self.context = context
    if context.announcesChanges {
      inserted =
        changes.inserted.contains(where: \.isGone)
        ? changes.inserted.filter { !$0.isGone }.map { $0 } : Array(changes.inserted)
    }
    // An import only inserts objects: they needn't be told apart, so nothing is hashed.
    let isOnlyNew = changes.inserted.isEmpty || (changes.deleted.isEmpty && changes.formers.isEmpty)
    let isNew = isOnlyNew ? [] : Set(changes.inserted.map(ObjectIdentifier.init))
    deleted =
      isNew.isEmpty
      ? Array(changes.deleted) : changes.deleted.filter { !isNew.contains(ObjectIdentifier($0)) }.map { $0 }
    let isRefreshed = Set(changes.refreshed.map(ObjectIdentifier.init))
    updated = changes.formers.lazy.map(\.object).filter { object in
      switch object.state {
      case .deleted, .detached: return false
      case .inserted: return !isNew.contains(ObjectIdentifier(object))
      // An unread set changed, which leaves the object clean; or a change was undone.
      case .clean: return !isRefreshed.contains(ObjectIdentifier(object))
      case .updated: return true
      }
    }
    var seen: Set<ObjectIdentifier> = []
    refreshed = changes.refreshed.filter {
      $0.state != .detached && $0.state != .deleted && seen.insert(ObjectIdentifier($0)).inserted
    }.map { $0 }
    invalidated = Array(changes.invalidated)
  }

  /// The notification's user info, without empty lists.
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

extension ManagedObject {
  /// Whether it has no context any more, or is to be deleted.
  final var isGone: Bool { state == .detached || state == .deleted }
}
