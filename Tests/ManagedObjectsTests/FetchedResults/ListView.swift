import Foundation
import ManagedObjects
import Testing

/// A list like a table view's: after the first time it never gets the whole content, but applies the controller's changes in
/// groups.
final class ListView<Object: ManagedObject>: FetchedResultsControllerDelegate {
  /// The calls, in order.
  private(set) var log: [String] = []
  private(set) var rows: [[Object]] = []
  /// The number of groups of changes.
  private(set) var batches = 0
  /// Called in the middle of a group.
  var onChange: ((Object) -> Void)?

  private var removedSections: [Int] = []
  private var insertedSections: [Int] = []
  private var removed: [(IndexPath, Object)] = []
  private var inserted: [(IndexPath, Object)] = []
  private var updated: [(IndexPath, IndexPath, Object)] = []
  private let name: (Object) -> String

  init(_ controller: FetchedResultsController<Object>, name: @escaping (Object) -> String = { "\($0.objectID.number)" })
  {
    self.name = name
    rows = controller.sections?.map(\.objects) ?? []
  }

  func forgetLog() { log = [] }

  func controllerWillChangeContent(_ controller: FetchedResultsController<Object>) {
    log.append("will")
    #expect(controller.sections?.map(\.objects) == rows, "the content is still the old one")
  }

  func controller(
    _ controller: FetchedResultsController<Object>, didChange sectionInfo: FetchedResultsSectionInfo<Object>,
    atSectionIndex sectionIndex: Int, for type: FetchedResultsChangeType
  ) {
    log.append("section \(type) \(sectionInfo.name) \(sectionIndex)")
    if type == .delete { removedSections.append(sectionIndex) } else { insertedSections.append(sectionIndex) }
  }

  func controller(
    _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: IndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    let paths = [indexPath, newIndexPath].compactMap { $0 }.map { "\($0.section).\($0.item)" }
    log.append("\(type) \(name(object)) \(paths.joined(separator: "→"))")
    switch (type, indexPath, newIndexPath) {
    case (.insert, nil, let new?): inserted.append((new, object))
    case (.delete, let old?, nil): removed.append((old, object))
    case (.move, let old?, let new?):
      removed.append((old, object))
      inserted.append((new, object))
    case (.update, let old?, let new?): updated.append((old, new, object))
    default: Issue.record("\(type) with \(String(describing: indexPath)) and \(String(describing: newIndexPath))")
    }
    onChange?(object)
  }

  func controllerDidChangeContent(_ controller: FetchedResultsController<Object>) {
    log.append("did")
    batches += 1
    for (path, _, object) in updated { #expect(rows[path.section][path.item] === object) }
    for (path, object) in removed.sorted(by: { $0.0 > $1.0 }) {
      #expect(rows[path.section][path.item] === object)
      rows[path.section].remove(at: path.item)
    }
    for section in removedSections.sorted(by: >) {
      #expect(rows[section].isEmpty, "every object of a deleted section is reported")
      rows.remove(at: section)
    }
    for section in insertedSections.sorted() { rows.insert([], at: section) }
    for (path, object) in inserted.sorted(by: { $0.0 < $1.0 }) { rows[path.section].insert(object, at: path.item) }
    for (_, path, object) in updated { #expect(rows[path.section][path.item] === object) }
    (removedSections, insertedSections, removed, inserted, updated) = ([], [], [], [], [])
  }
}
