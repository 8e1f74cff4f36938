public import Foundation

extension PersistentStoreCoordinator {
  /// Posted when a store was added or removed, on the thread that did it; `object` is the coordinator.
  ///
  /// Source: Core Data's `NSPersistentStoreCoordinatorStoresDidChange`.
  public static let storesDidChangeNotification = Notification.Name(
    "NSPersistentStoreCoordinatorStoresDidChangeNotification")

  /// Keys of the user info of ``storesDidChangeNotification``; the values are arrays of ``PersistentStore``.
  public enum NotificationKey: String, Sendable {
    /// Stores that were added: Core Data's `NSAddedPersistentStoresKey`.
    case addedStores = "added"
    /// Stores that were removed: Core Data's `NSRemovedPersistentStoresKey`.
    case removedStores = "removed"
  }

  func postStoresDidChange(_ key: NotificationKey, _ store: PersistentStore) {
    NotificationCenter.default.post(
      name: Self.storesDidChangeNotification, object: self, userInfo: [key.rawValue: [store]])
  }
}
