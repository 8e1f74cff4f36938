public import Foundation

extension UndoManager {
  /// Posted before groups are opened and closed, undone and redone; `object` is the manager, as of all of these.
  public static let checkpointNotification = Notification.Name("NSUndoManagerCheckpointNotification")
  /// Posted when a group has been opened.
  public static let didOpenUndoGroupNotification = Notification.Name("NSUndoManagerDidOpenUndoGroupNotification")
  /// Posted before a group is closed.
  public static let willCloseUndoGroupNotification = Notification.Name("NSUndoManagerWillCloseUndoGroupNotification")
  /// Posted when a group has been closed.
  public static let didCloseUndoGroupNotification = Notification.Name("NSUndoManagerDidCloseUndoGroupNotification")
  /// Posted before a group is undone.
  public static let willUndoChangeNotification = Notification.Name("NSUndoManagerWillUndoChangeNotification")
  /// Posted when a group has been undone.
  public static let didUndoChangeNotification = Notification.Name("NSUndoManagerDidUndoChangeNotification")
  /// Posted before a group is redone.
  public static let willRedoChangeNotification = Notification.Name("NSUndoManagerWillRedoChangeNotification")
  /// Posted when a group has been redone.
  public static let didRedoChangeNotification = Notification.Name("NSUndoManagerDidRedoChangeNotification")
}
