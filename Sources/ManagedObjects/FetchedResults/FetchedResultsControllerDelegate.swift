public import Foundation

/// What happened to an object or a section. Source: Core Data's `NSFetchedResultsChangeType`.
public enum FetchedResultsChangeType: Sendable, Hashable {
  /// It came.
  case insert
  /// It left.
  case delete
  /// A value that objects are sorted or sectioned by changed, and others may have with it; the two paths may be the same.
  case move
  /// Something else of it changed.
  case update
}

/// Who is told how the content of a ``FetchedResultsController`` changes, on the queue of its context.
///
/// For each change of the content, in this order: ``controllerWillChangeContent(_:)``, while the content is still the old
/// one; sections deleted, from the last to the first, and inserted, from the first to the last; objects deleted, from
/// the last to the first, inserted, from the first to the last, moved and updated; ``controllerDidChangeContent(_:)``.
/// Old paths and section numbers count before all of the change, new ones after all of it, as a table view takes them in
/// one batch of updates. Every method but these needs no implementation: they do nothing by themselves.
///
/// Source: Core Data's `NSFetchedResultsControllerDelegate`. Sections are told before objects, an object that comes
/// or goes tells nothing of those behind it, and a moved object isn't told as updated: as its documentation says. Beyond
/// it, when sections change places, some are told as deleted and inserted and their objects as moved.
public protocol FetchedResultsControllerDelegate<Object>: AnyObject {
  /// The class of the controller's objects.
  associatedtype Object: ManagedObject

  /// The content is about to change; the controller still has the old one.
  func controllerWillChangeContent(_ controller: FetchedResultsController<Object>)

  /// A section was inserted or deleted: at its new index, or at its old one.
  func controller(
    _ controller: FetchedResultsController<Object>, didChange sectionInfo: FetchedResultsSectionInfo<Object>,
    atSectionIndex sectionIndex: Int, for type: FetchedResultsChangeType)

  /// An object came, left, moved or changed.
  /// - Parameters:
  ///   - indexPath: where it was before the change; nil if it came.
  ///   - newIndexPath: where it is now; nil if it left. Of an update, too, where Core Data leaves it open.
  func controller(
    _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: IndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: IndexPath?)

  /// The content has changed, and everything has been told.
  func controllerDidChangeContent(_ controller: FetchedResultsController<Object>)

  /// The title of a section in an index; by itself the first letter of its name as a capital.
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
  /// The first letter of the name as a capital.
  public func controller(
    _ controller: FetchedResultsController<Object>, sectionIndexTitleForSectionName sectionName: String
  ) -> String? { sectionName.indexTitle }
}

/// A delegate that takes the whole new content. No other method of it is called but those for index titles, as in Core
/// Data, where implementing `controller(_:didChangeContentWith:)` for a snapshot says so.
public protocol FetchedResultsSnapshotDelegate<Object>: FetchedResultsControllerDelegate {
  /// The content has changed, or has been fetched; also when only temporary IDs have become permanent.
  func controller(
    _ controller: FetchedResultsController<Object>, didChangeContentWith snapshot: FetchedResultsSnapshot)
}

/// A delegate that takes the difference between the old content and the new, of a controller without sections. No other
/// method of it is called but those for index titles, as in Core Data, where implementing
/// `controller(_:didChangeContentWith:)` for a difference says so; with sections, only the others are.
public protocol FetchedResultsDifferenceDelegate<Object>: FetchedResultsControllerDelegate {
  /// The content has changed, or has been fetched. An object that moved or changed is removed and inserted, each
  /// associated with the other; one whose ID became permanent is removed and inserted.
  func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeContentWith difference: CollectionDifference<ManagedObjectID>)
}

extension String {
  /// The title in an index for a section of this name; nil for the empty name.
  var indexTitle: String? { first.map { String($0).uppercased() } }
}
