public import Foundation

/// What one save wrote: the typed form of the did-save notification, which can cross to other contexts' queues.
///
/// ```swift
/// NotificationCenter.default.addObserver(
///   forName: ManagedObjectContext.didSaveObjectsNotification, object: nil, queue: nil
/// ) { note in
///   guard let save = ContextSave(note) else { return }
///   main.perform { main.mergeChanges(fromContextDidSave: save) }
/// }
/// ```
public struct ContextSave: Sendable {
  /// The name of the context that saved.
  public let contextName: String?
  /// Who made the changes, as that context was told.
  public let transactionAuthor: String?
  let contextID: ObjectIdentifier
  let coordinator: PersistentStoreCoordinator
  let isToStore: Bool
  package let inserted: [StoreRow]
  package let updated: [StoreChanges.Update]
  package let deleted: [StoreRow]
  /// What the store changed of rows that the save didn't: derived attributes of theirs.
  package let refreshed: [StoreWriteResult.Refresh]

  init(context: ManagedObjectContext, _ changes: StoreChanges, _ refreshed: [StoreWriteResult.Refresh] = []) {
    contextName = context.name
    transactionAuthor = context.transactionAuthor
    contextID = ObjectIdentifier(context)
    coordinator = context.persistentStoreCoordinator
    isToStore = context.parent == nil
    inserted = changes.inserted
    updated = changes.updated
    deleted = changes.deleted
    self.refreshed = refreshed
  }

  /// What a did-save notification tells, of objects or of IDs; nil for any other notification.
  public init?(_ notification: Notification) {
    guard let save = notification.userInfo?[ManagedObjectContext.saveKey] as? ContextSave else { return nil }
    self = save
  }

  /// The IDs of the objects that were inserted, in the order of their insertion.
  public var insertedObjectIDs: [ManagedObjectID] { inserted.map(\.id) }
  /// The IDs of the objects that were changed.
  public var updatedObjectIDs: [ManagedObjectID] { updated.map(\.id) }
  /// The IDs of the objects that were deleted.
  public var deletedObjectIDs: [ManagedObjectID] { deleted.map(\.id) }
  /// The IDs of the objects that the save didn't change, and whose derived attributes it changed all the same, such as a
  /// count of objects that it inserted.
  public var refreshedObjectIDs: [ManagedObjectID] { refreshed.map(\.id) }
}
