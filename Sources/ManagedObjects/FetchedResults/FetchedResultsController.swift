/// The objects that a request finds, in order and in sections, kept in step with their context: what a list shows.
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
/// It follows its context's unsaved changes, whenever these are processed; what the context merges, objects
/// included that nobody here has asked for; rollback, refresh, and the saves that children make into the context. Each
/// change is looked at by itself, in memory: the objects that changed are compared with the predicate and put where they
/// belong. The store is read only for the window of a request with a limit or an offset, when objects leave it; for the
/// objects that a predicate over a relationship selects, when the object at its other end has changed; and for faults.
///
/// The controller is used on its context's queue, like the objects, and isn't `Sendable`: a ``FetchedResultsSnapshot``
/// is, and ``updates`` brings them to any task.
///
/// Source: Core Data's `NSFetchedResultsController`. Differences:
/// - It follows with or without a delegate, and follows the objects at the other end of relationships too, to-many ones
///   included, where the key paths of predicate, sort descriptors or section names go over one: renaming a company moves
///   its people. Core Data doesn't look there. Such an object's members are told only if that moves them, or makes them come or go.
/// - A limit stays: what comes in front pushes the last object out.
/// - There is no cache (`cacheName`, `deleteCache(withName:)`). Core Data keeps the sections' names and counts in a file to
///   save reading the objects; here the fetch reads the rows at once, and a file that has to be compared with the store
///   each time would cost more than it saves.
/// - After ``ManagedObjectContext/reset()`` the controller is empty, having told so, until it fetches again.
/// - The context's unsaved changes count whatever the request's `includesPendingChanges` says.
public final class FetchedResultsController<T: ManagedObject> {
  /// What is fetched. A change takes effect with the next ``performFetch()``.
  public var fetchRequest: FetchRequest<T>
  /// Where it is fetched, and what is followed.
  public let managedObjectContext: ManagedObjectContext
  /// The key path of the section names, over to-one relationships; nil without sections, and for names that are computed.
  public let sectionNameKeyPath: String?
  /// Who is told of changes.
  public weak var delegate: (any FetchedResultsControllerDelegate<T>)? {
    didSet { toldIDs = delegate is any FetchedResultsDifferenceDelegate<T> ? snapshot?.objectIDs ?? [] : [] }
  }

  private let sectionName: ((T) -> String?)?
  private(set) var tracker: FetchedResultsTracker?
  private var objects: [T]?
  /// What a delegate that takes differences knows.
  private var toldIDs: [ManagedObjectID] = []
  private weak var feed: SnapshotFeed?

  /// A controller that fetches nothing yet.
  /// - Parameters:
  ///   - fetchRequest: what to fetch, with one sort descriptor at least.
  ///   - sectionNameKeyPath: the key path of an attribute whose values, as text, name the sections; nil for one section.
  ///     The sort descriptors must put the objects of a section next to each other: mostly the first has this key path.
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
  /// A section's name is computed anew when its object has changed, not when others have that the closure reads.
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
  /// Delegates that take callbacks are told nothing; snapshots and differences are.
  /// Source: `performFetch()` of Core Data.
  /// - Throws: ``FetchedResultsError``; what ``ManagedObjectContext/fetch(_:)`` throws. The former content stays then.
  public func performFetch() throws {
    managedObjectContext.confinement.check()
    guard !fetchRequest.sortDescriptors.isEmpty else {
      throw FetchedResultsError.noSortDescriptors(entity: fetchRequest.entityName)
    }
    // What has changed so far belongs to the fetch.
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
      tellDifference(to: snapshot, delegate)
    }
  }

  /// Tells what differs from the content told last.
  func tellDifference(to snapshot: FetchedResultsSnapshot, _ delegate: any FetchedResultsDifferenceDelegate<T>) {
    let difference = snapshot.objectIDs.orderedDifference(from: toldIDs, changed: Set(snapshot.updatedObjectIDs))
    toldIDs = snapshot.objectIDs
    if !difference.isEmpty { delegate.controller(self, didChangeContentWith: difference) }
  }

  private func sectionNames() throws -> FetchedSelection.SectionNames {
    if let sectionName { return .computed { sectionName(unsafeDowncast($0, to: T.self)) } }
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
    let all = tracker.content.members.map { unsafeDowncast($0.object, to: T.self) }
    objects = all
    return all
  }

  /// The content as it is, to take anywhere; nil before the first fetch and after a reset.
  public var snapshot: FetchedResultsSnapshot? {
    managedObjectContext.confinement.check()
    return tracker.map { FetchedResultsSnapshot($0.content) }
  }

  /// The contents from now on, each with its difference from the one before, for a task anywhere. Asked for on the
  /// context's queue; what is unused costs nothing.
  public var updates: FetchedResultsUpdates {
    managedObjectContext.confinement.check()
    if let feed { return FetchedResultsUpdates(feed) }
    let new = SnapshotFeed(snapshot)
    feed = new
    return FetchedResultsUpdates(new)
  }

  func forgetObjects() { objects = nil }
  func forgetTracker() { tracker = nil }
  func publish(_ snapshot: @autoclosure () -> FetchedResultsSnapshot) { feed?.publish(snapshot()) }
}

@available(*, unavailable, message: "a controller stays on its context's queue: take a snapshot along")
extension FetchedResultsController: Sendable {}
