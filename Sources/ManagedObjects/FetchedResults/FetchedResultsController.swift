public import Foundation

/// The objects that a request finds, in order and in sections, kept in step with their context, for a list to show.
///
/// ```swift
/// let request = FetchRequest<Person>(
///   entityName: "Person", sortDescriptors: [FetchSortDescriptor("employer.name"), FetchSortDescriptor("name")])
/// let people = FetchedResultsController(
///   fetchRequest: request, managedObjectContext: main, sectionNameKeyPath: "employer.name")
/// people.delegate = list
/// try people.performFetch()
/// ```
///
/// It follows its context's unsaved changes whenever they are processed; what the context merges, including objects that
/// aren't registered; rollback, refresh, and the saves that children make into the context. Each change is examined by itself,
/// in memory: the changed objects are compared with the predicate and put in their places. The store is read only for the
/// window of a request with a limit or an offset, when objects leave it; for the objects that a predicate over a relationship
/// selects, when the object at its other end has changed; and for faults.
///
/// The controller is used on its context's queue, like the objects, and isn't `Sendable`: a ``FetchedResultsSnapshot``
/// is, and ``updates`` brings them to any task.
///
/// Source: Core Data's `NSFetchedResultsController`. Differences:
/// - It follows with or without a delegate. It also follows the objects at the other end of relationships, to-many ones
///   included, where the key paths of predicate, sort descriptors or section names go over one: renaming a company moves
///   its people. Core Data ignores those. Related changes are reported only when they make members move, enter or leave.
/// - A limit stays in effect: an object that enters before the last one pushes it out.
/// - There is no cache (`cacheName`, `deleteCache(withName:)`). Core Data keeps the sections' names and counts in a file to
///   avoid reading the objects. Here the fetch reads the rows at once, and a file that has to be compared with the store
///   each time would cost more than it saves.
/// - After ``ManagedObjectContext/reset()`` the controller reports that it is empty, and stays so until it fetches again.
/// - The context's unsaved changes count whatever the request's `includesPendingChanges` says.
public final class FetchedResultsController<T: ManagedObject> {
  /// The request. A change takes effect with the next ``performFetch()``.
  public var fetchRequest: FetchRequest<T>
  /// The context that is fetched from and followed.
  public let managedObjectContext: ManagedObjectContext
  /// The key path of the section names, over to-one relationships; nil without sections, and for names that are computed.
  public let sectionNameKeyPath: String?
  /// The receiver of changes.
  public weak var delegate: (any FetchedResultsControllerDelegate<T>)? {
    didSet { reportedIDs = delegate is any FetchedResultsDifferenceDelegate<T> ? snapshot?.objectIDs ?? [] : [] }
  }

  /// Makes what may end the examination of changes, for each time; nil to examine them however long it takes.
  package var makeInterruption: (() -> Interruption)?
  /// Called when an examination was ended. The controller is empty then, and follows nothing until it fetches again.
  package var wasInterrupted: (() -> Void)?

  private let sectionName: ((T) -> String?)?
  private var tracker: FetchedResultsTracker?
  private var objects: [T]?
  /// The IDs last reported to a delegate that takes differences.
  private var reportedIDs: [ManagedObjectID] = []
  private weak var feed: SnapshotFeed?

  /// A controller that fetches nothing yet.
  /// - Parameters:
  ///   - fetchRequest: the request, with at least one sort descriptor.
  ///   - sectionNameKeyPath: the key path of an attribute whose values, as text, name the sections; nil for one section.
  ///     The sort descriptors must put the objects of a section next to each other: usually the first has this key path.
  public init(
    fetchRequest: FetchRequest<T>, managedObjectContext: ManagedObjectContext, sectionNameKeyPath: String? = nil
  ) {
    self.fetchRequest = fetchRequest
    self.managedObjectContext = managedObjectContext
    self.sectionNameKeyPath = sectionNameKeyPath
    sectionName = nil
  }

  /// A controller whose section names Swift computes, where Core Data takes a key path to a method of the class:
  /// `sectionName: \.initial`, or a closure.
  ///
  /// An object's section name is computed again when the object has changed, but not when other objects have that the closure
  /// reads.
  public init(
    fetchRequest: FetchRequest<T>, managedObjectContext: ManagedObjectContext, sectionName: @escaping (T) -> String?
  ) {
    self.fetchRequest = fetchRequest
    self.managedObjectContext = managedObjectContext
    self.sectionName = sectionName
    sectionNameKeyPath = nil
  }

  deinit { feed?.finish() }

  /// Fetches the objects, and follows them from now on.
  ///
  /// Delegates that take snapshots or differences receive one; the callbacks of others aren't called.
  /// Source: `performFetch()` of Core Data.
  /// - Throws: ``FetchedResultsError``; what ``ManagedObjectContext/fetch(_:)`` throws. The former content then stays.
  public func performFetch() throws {
    managedObjectContext.confinement.check()
    guard !fetchRequest.sortDescriptors.isEmpty else {
      throw FetchedResultsError.noSortDescriptors(entity: fetchRequest.entityName)
    }
    // Changes made so far belong to the fetch.
    managedObjectContext.processPendingChanges()
    var request = fetchRequest
    request.includesPendingChanges = true
    let context = managedObjectContext
    let selection = FetchedSelection(try context.bind(request), try sectionNames(), isOfClass: { $0 is T })
    let new = try FetchedResultsTracker(context, selection) { try context.fetch(request) }
    new.receiver = self
    tracker = new
    objects = nil
    let snapshot = FetchedResultsSnapshot(new.content)
    feed?.publish(snapshot)
    if let delegate = delegate as? any FetchedResultsSnapshotDelegate<T> {
      delegate.controller(self, didChangeContentWith: snapshot)
    } else if !selection.hasSections, let delegate = delegate as? any FetchedResultsDifferenceDelegate<T> {
      reportDifference(to: snapshot, delegate)
    }
  }

  /// Reports the difference from the content reported last.
  private func reportDifference(
    to snapshot: FetchedResultsSnapshot, _ delegate: any FetchedResultsDifferenceDelegate<T>
  ) {
    let difference = snapshot.objectIDs.orderedDifference(from: reportedIDs, changed: Set(snapshot.updatedObjectIDs))
    reportedIDs = snapshot.objectIDs
    if !difference.isEmpty { delegate.controller(self, didChangeContentWith: difference) }
  }

  private func sectionNames() throws -> FetchedSelection.SectionNames {
    if let sectionName { return .computed { sectionName($0.asMember(of: T.self)) } }
    guard let sectionNameKeyPath else { return .none }
    let entity = try managedObjectContext.entity(fetchRequest.entityName)
    let names = sectionNameKeyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    do {
      let path = try ResolvedPath(names, in: entity)
      if case .attribute = path.end { return .path(path) }
      throw FetchedResultsError.unknownSectionKeyPath(sectionNameKeyPath, reason: "it leads to an object")
    } catch let error as FetchPredicateError {
      throw FetchedResultsError.unknownSectionKeyPath(sectionNameKeyPath, reason: "\(error)")
    }
  }

  /// The objects, in order; nil before the first fetch and after a reset.
  public var fetchedObjects: [T]? {
    managedObjectContext.confinement.check()
    guard let tracker else { return nil }
    if let objects { return objects }
    let all = tracker.content.members.map { $0.object.asMember(of: T.self) }
    objects = all
    return all
  }

  /// The content as it is, to take anywhere; nil before the first fetch and after a reset.
  public var snapshot: FetchedResultsSnapshot? {
    managedObjectContext.confinement.check()
    return tracker.map { FetchedResultsSnapshot($0.content) }
  }

  /// The contents from now on, each with its difference from the one before, for a task anywhere. To be called on the context's
  /// queue. Costs nothing while it isn't used.
  public var updates: FetchedResultsUpdates {
    managedObjectContext.confinement.check()
    if let feed { return FetchedResultsUpdates(feed) }
    let new = SnapshotFeed(snapshot)
    feed = new
    return FetchedResultsUpdates(new)
  }

  // MARK: Sections

  /// The sections, in order; nil before the first fetch and after a reset. Without section names there is one section, even
  /// when it is empty. Objects whose name is nil are in a section with an empty name.
  public var sections: [FetchedResultsSectionInfo<T>]? {
    managedObjectContext.confinement.check()
    guard let content = tracker?.content else { return nil }
    return content.sections.runs.indices.map { info(of: $0, content.sections, content.members) }
  }

  /// The object at a path of section and item.
  ///
  /// The path must be one of the content's, as for an array's subscript. Source: `object(at:)` of Core Data.
  public func object(at indexPath: IndexPath) -> T {
    managedObjectContext.confinement.check()
    guard let content = tracker?.content else { preconditionFailure("performFetch() comes before object(at:)") }
    precondition(
      indexPath.count == 2 && content.sections.runs.indices.contains(indexPath.section)
        && content.sections.range(of: indexPath.section).count > indexPath.item && indexPath.item >= 0,
      "no object at \(indexPath)")
    let index = content.sections.starts[indexPath.section] + indexPath.item
    return content.members[index].object.asMember(of: T.self)
  }

  /// The index path of an object; nil if it isn't in the content. Found by binary search.
  public func indexPath(forObject object: T) -> IndexPath? {
    managedObjectContext.confinement.check()
    guard let content = tracker?.content else { return nil }
    guard let member = tracker?.member(of: object), let index = content.index(of: member) else { return nil }
    return content.sections.path(of: index)
  }

  /// The titles of the sections for an index, each once, in the order of the first section that has it.
  ///
  /// Source: `sectionIndexTitles` of Core Data.
  public var sectionIndexTitles: [String] {
    var seen: Set<String> = []
    return titles.compactMap { $0 }.filter { seen.insert($0).inserted }
  }

  /// The index title of a section of that name: the delegate's, or else the first letter in upper case.
  public func sectionIndexTitle(forSectionName name: String) -> String? {
    managedObjectContext.confinement.check()
    guard let delegate else { return name.indexTitle }
    return delegate.controller(self, sectionIndexTitleForSectionName: name)
  }

  /// The number of the section to show for the title at an index of ``sectionIndexTitles``: the first that has it. nil
  /// when the title isn't at that index, where Core Data raises.
  public func section(forSectionIndexTitle title: String, at index: Int) -> Int? {
    let known = sectionIndexTitles
    guard known.indices.contains(index), known[index] == title else { return nil }
    return titles.firstIndex(of: title)
  }

  private var titles: [String?] {
    managedObjectContext.confinement.check()
    return tracker?.content.sections.runs.map { sectionIndexTitle(forSectionName: $0.name) } ?? []
  }

  private func info(
    of index: Int, _ sections: SectionRuns, _ members: ContiguousArray<FetchedMember>, _ range: Range<Int>? = nil
  ) -> FetchedResultsSectionInfo<T> {
    let name = sections.runs[index].name
    return FetchedResultsSectionInfo(
      name: name, indexTitle: sectionIndexTitle(forSectionName: name), members, range ?? sections.range(of: index))
  }
}

@available(*, unavailable, message: "a controller stays on its context's queue: pass a snapshot")
extension FetchedResultsController: Sendable {}

extension FetchedResultsController: FetchedResultsReceiver {
  func trackerWillChange(_ tracker: FetchedResultsTracker) {
    guard tracker === self.tracker, let delegate, !takesWhole(delegate) else { return }
    delegate.controllerWillChangeContent(self)
  }

  func tracker(_ tracker: FetchedResultsTracker, didChange change: ContentChange) {
    guard tracker === self.tracker else { return }
    objects = nil
    let snapshot = { FetchedResultsSnapshot(tracker.content, updated: change.changedIDs) }
    feed?.publish(snapshot())
    guard let delegate else { return }
    if let delegate = delegate as? any FetchedResultsSnapshotDelegate<T> {
      delegate.controller(self, didChangeContentWith: snapshot())
    } else if takesWhole(delegate), let delegate = delegate as? any FetchedResultsDifferenceDelegate<T> {
      reportDifference(to: snapshot(), delegate)
    } else if !change.objects.isEmpty {
      report(change, to: delegate)
    }
  }

  func trackerDidReset(_ tracker: FetchedResultsTracker) {
    guard tracker === self.tracker else { return }
    self.tracker = nil
    objects = nil
  }

  func interruption(for tracker: FetchedResultsTracker) -> Interruption? { makeInterruption?() }

  func trackerWasInterrupted(_ tracker: FetchedResultsTracker) {
    guard tracker === self.tracker else { return }
    self.tracker = nil
    objects = nil
    wasInterrupted?()
  }

  /// Whether a delegate takes snapshots or differences rather than callbacks.
  private func takesWhole(_ delegate: any FetchedResultsControllerDelegate<T>) -> Bool {
    if delegate is any FetchedResultsSnapshotDelegate<T> { return true }
    return tracker?.selection.hasSections == false && delegate is any FetchedResultsDifferenceDelegate<T>
  }

  private func report(_ change: ContentChange, to delegate: any FetchedResultsControllerDelegate<T>) {
    for index in change.mapping.deleted.reversed() {
      let members = change.vanished[index] ?? []
      let info = info(of: index, change.former, members, 0..<members.count)
      delegate.controller(self, didChange: info, atSectionIndex: index, for: .delete)
    }
    for index in change.mapping.inserted {
      let info = info(of: index, change.sections, change.members)
      delegate.controller(self, didChange: info, atSectionIndex: index, for: .insert)
    }
    for object in change.objects {
      delegate.controller(
        self, didChange: object.object.asMember(of: T.self), at: change.oldPath(object), for: object.type,
        newIndexPath: change.newPath(object))
    }
    delegate.controllerDidChangeContent(self)
  }
}

/// A section of a controller's content at the time of the call. It holds objects, so it stays on their context's queue.
///
/// Source: Core Data's `NSFetchedResultsSectionInfo`.
public struct FetchedResultsSectionInfo<T: ManagedObject> {
  /// The section's name: empty for objects without one, and for a controller without sections.
  public let name: String
  /// Its title in an index; see ``FetchedResultsController/sectionIndexTitles``.
  public let indexTitle: String?
  /// The number of objects.
  public var numberOfObjects: Int { range.count }
  /// The objects, in order. The array is made by each call: get single objects from the controller.
  public var objects: [T] { members[range].map { $0.object.asMember(of: T.self) } }

  private let members: ContiguousArray<FetchedMember>
  private let range: Range<Int>

  init(name: String, indexTitle: String?, _ members: ContiguousArray<FetchedMember>, _ range: Range<Int>) {
    self.name = name
    self.indexTitle = indexTitle
    self.members = members
    self.range = range
  }
}

@available(*, unavailable, message: "managed objects stay on their context's queue: pass a snapshot")
extension FetchedResultsSectionInfo: Sendable {}

/// A fetch that a ``FetchedResultsController`` refuses.
public enum FetchedResultsError: Error, Sendable, Equatable {
  /// The request has no sort descriptor. Index paths need an order.
  case noSortDescriptors(entity: String)
  /// The request's order doesn't keep the objects of one section together.
  case sectionsOutOfOrder(name: String, objectIndex: Int)
  /// The key path of the section names isn't one of the entity.
  case unknownSectionKeyPath(String, reason: String)
}

extension FetchedResultsError: CustomStringConvertible {
  /// The reason, and what to do.
  public var description: String {
    switch self {
    case .noSortDescriptors(let entity):
      return "a fetched results controller of \(entity) needs a request with sort descriptors: add one"
    case .sectionsOutOfOrder(let name, let index):
      return """
        the object at \(index) belongs to section "\(name)", which ended before it: let the first sort descriptor order the \
        objects by section name
        """
    case .unknownSectionKeyPath(let path, let reason): return "no sections by \"\(path)\": \(reason)"
    }
  }
}
