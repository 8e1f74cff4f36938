import Foundation
import Synchronization

/// The name of a notification, and whether a program has asked for it.
///
/// `NotificationCenter` doesn't say whether anything observes a notification. But nothing can that hasn't got its name. Until
/// a program takes the name from ``ManagedObjectContext``, announcing makes no sets, and no objects for rows that a merge
/// brings: the main queue's work for a save stays the same however many objects it inserted.
final class AnnouncedName: Sendable {
  static let didChange = AnnouncedName("NSObjectsChangedInManagingContextNotification")
  static let didSave = AnnouncedName("NSManagingContextDidSaveChangesNotification")
  static let didSaveIDs = AnnouncedName("NSManagedObjectContextDidSaveObjectIDsNotification")
  static let didMergeIDs = AnnouncedName("NSManagedObjectContextDidMergeChangesObjectIDsNotification")

  let name: Notification.Name
  private let asked = Atomic(false)

  private init(_ name: String) { self.name = Notification.Name(name) }

  /// Whether a program may observe the notification.
  var isWanted: Bool { asked.load(ordering: .relaxed) }

  /// The name, for a program.
  var forObservers: Notification.Name {
    if !isWanted { asked.store(true, ordering: .relaxed) }
    return name
  }
}
