public import Foundation

/// What a remote-change notification tells: another process, or another coordinator of this one, has committed to a
/// store. The typed form of ``PersistentStoreCoordinator/remoteChangeNotification``.
public struct PersistentStoreRemoteChange: Sendable {
  /// The store's file.
  public let storeURL: URL?
  /// The store's identifier.
  public let storeIdentifier: String
  /// The place in the history after the change; nil when the store tracks none. What is before it and after the last
  /// one that was looked at is what changed.
  public let historyToken: PersistentHistoryToken?

  /// What a notification tells; nil for any other notification.
  public init?(_ notification: Notification) {
    guard notification.name == PersistentStoreCoordinator.remoteChangeNotification,
      let identifier = notification.userInfo?[PersistentStoreCoordinator.storeIdentifierKey] as? String
    else { return nil }
    storeIdentifier = identifier
    storeURL = notification.userInfo?[PersistentStoreCoordinator.storeURLKey] as? URL
    historyToken = notification.userInfo?[PersistentStoreCoordinator.historyTokenKey] as? PersistentHistoryToken
  }
}

extension PersistentStoreCoordinator {
  /// Posted when somebody else has committed to a store whose options ask for it; `object` is the coordinator. Several
  /// commits may be told by one notification. Posted on a queue of the store's own.
  ///
  /// Source: Core Data's `NSPersistentStoreRemoteChange`, which tells of a program's own changes, too.
  public static let remoteChangeNotification = Notification.Name("NSPersistentStoreRemoteChangeNotification")
  /// In the notification's user info: the store's file, a `URL`.
  public static let storeURLKey = "storeURL"
  /// In the notification's user info: the store's identifier, a `String`.
  public static let storeIdentifierKey = "NSStoreUUID"
  /// In the notification's user info: a ``PersistentHistoryToken``, when the store tracks history.
  public static let historyTokenKey = "historyToken"

  /// Makes a store's remote changes this coordinator's notifications.
  func followRemoteChanges(of store: any IncrementalStore) throws {
    guard let keeping = store as? any HistoryKeeping else { return }
    let (identifier, url) = (store.identifier, store.url)
    try keeping.followRemoteChanges { [weak self] number in
      guard let self else { return }
      var info: [AnyHashable: Any] = [Self.storeIdentifierKey: identifier]
      if let url { info[Self.storeURLKey] = url }
      if let number { info[Self.historyTokenKey] = PersistentHistoryToken([identifier: number]) }
      NotificationCenter.default.post(name: Self.remoteChangeNotification, object: self, userInfo: info)
    }
  }
}
