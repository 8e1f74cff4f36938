public import Foundation

/// The content of a remote-change notification: this coordinator, another one, or another process has committed to a store. The
/// typed form of ``PersistentStoreCoordinator/remoteChangeNotification``.
public struct PersistentStoreRemoteChange: Sendable {
  /// The store's file.
  public let storeURL: URL?
  /// The store's identifier.
  public let storeIdentifier: String
  /// The place in the history after the change; nil when the store tracks none. The changes are those between the last token
  /// that was handled and this one.
  public let historyToken: PersistentHistoryToken?

  /// The content of a remote-change notification; nil for any other notification.
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
  /// Posted after a commit to a store whose options ask for it: of this coordinator, of another one, or of another process;
  /// `object` is the coordinator. One notification may stand for several commits. The history says whose they are. Posted on a
  /// queue of the store.
  ///
  /// Source: Core Data's `NSPersistentStoreRemoteChange`.
  public static let remoteChangeNotification = Notification.Name("NSPersistentStoreRemoteChangeNotification")
  /// In the notification's user info: the store's file, a `URL`.
  public static let storeURLKey = "storeURL"
  /// In the notification's user info: the store's identifier, a `String`.
  public static let storeIdentifierKey = "NSStoreUUID"
  /// In the notification's user info: a ``PersistentHistoryToken``, when the store tracks history.
  public static let historyTokenKey = "historyToken"

  /// Posts notifications for a store's remote changes.
  func followRemoteChanges(of store: any IncrementalStore) throws {
    guard let keeping = store as? any HistoryKeeping else { return }
    let (identifier, url) = (store.identifier, store.url)
    try keeping.followRemoteChanges { [weak self] number in
      guard let self else { return }
      noteChange()
      var info: [AnyHashable: Any] = [Self.storeIdentifierKey: identifier]
      if let url { info[Self.storeURLKey] = url }
      if let number { info[Self.historyTokenKey] = PersistentHistoryToken([identifier: number]) }
      NotificationCenter.default.post(name: Self.remoteChangeNotification, object: self, userInfo: info)
    }
  }
}
