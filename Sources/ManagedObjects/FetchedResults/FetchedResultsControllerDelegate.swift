public import Foundation

/// The kind of change of an object or a section. Source: Core Data's `NSFetchedResultsChangeType`.
public enum FetchedResultsChangeType: Sendable, Hashable {
  /// It entered the content.
  case insert
  /// It left the content.
  case delete
  /// A value that objects are sorted or sectioned by changed; others may have changed with it. Both paths may be the same.
  case move
  /// Another value of it changed.
  case update
}

/// Receives the changes of a ``FetchedResultsController``'s content, on the queue of its context.
///
/// For each change of the content, in this order: ``controllerWillChangeContent(_:)``, while the content is still the old
/// one; sections deleted, from the last to the first, and inserted, from the first to the last; objects deleted, from
/// the last to the first, inserted, from the first to the last, moved and updated; ``controllerDidChangeContent(_:)``.
/// Old paths and section numbers refer to the content before the whole change, new ones to the content after it, as a table
/// view takes them in one group of updates. Every method has an implementation that does nothing.
///
/// Source: Core Data's `NSFetchedResultsControllerDelegate`. As its documentation says, sections are reported before objects,
/// an object that enters or leaves doesn't report those behind it, and a moved object isn't reported as updated. Beyond it,
/// when sections change places, some are reported as deleted and inserted and their objects as moved.
public protocol FetchedResultsControllerDelegate<Object>: AnyObject {
  /// The class of the controller's objects.
  associatedtype Object: ManagedObject

  /// The content is about to change; the controller still has the old one.
  func controllerWillChangeContent(_ controller: FetchedResultsController<Object>)

  /// A section was inserted or deleted: at its new index, or at its old one.
  func controller(
    _ controller: FetchedResultsController<Object>, didChange sectionInfo: FetchedResultsSectionInfo<Object>,
    atSectionIndex sectionIndex: Int, for type: FetchedResultsChangeType)

  /// An object entered, left, moved or changed.
  /// - Parameters:
  ///   - indexPath: its path before the change; nil if it entered.
  ///   - newIndexPath: its path now; nil if it left. Also set for an update, where Core Data leaves it open.
  func controller(
    _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: IndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: IndexPath?)

  /// The content has changed, and every change has been reported.
  func controllerDidChangeContent(_ controller: FetchedResultsController<Object>)

  /// The title of a section in an index; by default the first letter of its name in upper case.
  func controller(
    _ controller: FetchedResultsController<Object>, sectionIndexTitleForSectionName sectionName: String
  ) -> String?
}

extension FetchedResultsControllerDelegate {
  /// Does nothing.
  public func controllerWillChangeContent(_ controller: FetchedResultsController<Object>) {}
  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Object>, didChange sectionInfo: FetchedResultsSectionInfo<Object>,
    atSectionIndex sectionIndex: Int, for type: FetchedResultsChangeType
  ) {}
  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: IndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}
  /// Does nothing.
  public func controllerDidChangeContent(_ controller: FetchedResultsController<Object>) {}
  /// The first letter of the name in upper case.
  public func controller(
    _ controller: FetchedResultsController<Object>, sectionIndexTitleForSectionName sectionName: String
  ) -> String? { sectionName.indexTitle }
}

/// A delegate that takes the whole new content. Apart from that for index titles, its other methods aren't called. In Core Data
/// a delegate chooses this by implementing `controller(_:didChangeContentWith:)` for a snapshot.
public protocol FetchedResultsSnapshotDelegate<Object>: FetchedResultsControllerDelegate {
  /// The content has changed or has been fetched. Also called when only temporary IDs have become permanent.
  func controller(
    _ controller: FetchedResultsController<Object>, didChangeContentWith snapshot: FetchedResultsSnapshot)
}

/// A delegate that takes the difference between the old and the new content of a controller without sections. Apart from that
/// for index titles, its other methods aren't called; with sections, only those are. In Core Data a delegate chooses this by
/// implementing `controller(_:didChangeContentWith:)` for a difference.
public protocol FetchedResultsDifferenceDelegate<Object>: FetchedResultsControllerDelegate {
  /// The content has changed or has been fetched. An object that moved or changed is removed and inserted, each associated with
  /// the other; one whose ID became permanent is removed and inserted.
  func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeContentWith difference: CollectionDifference<ManagedObjectID>)
}

extension String {
  /// The title in an index for a section of this name; nil for the empty name.
  var indexTitle: String? { first.map { String($0).uppercased() } }
}
