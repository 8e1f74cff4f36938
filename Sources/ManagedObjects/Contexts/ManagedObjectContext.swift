import Dispatch
import Synchronization

/// A scratch pad of objects over a coordinator or a parent context: it fetches, tracks changes, and saves them.
///
/// A context belongs to a queue (see ``ConcurrencyType``); it and its objects are touched there only, which every access
/// checks. The context itself may be passed around: ``perform(_:)-(()->Void)`` and
/// ``performAndWait(_:)`` bring work to it from anywhere.
///
/// Source: Core Data's `NSManagedObjectContext`.
public final class ManagedObjectContext: @unchecked Sendable {
  // Sendable: everything mutable is touched on the context's queue only, which `home.check()` enforces; the rest is
  // constant.

  /// Where a context's work runs: Core Data's `NSManagedObjectContextConcurrencyType`.
  public enum ConcurrencyType: Sendable {
    /// On the main queue.
    case mainQueue
    /// On a serial queue of its own.
    case privateQueue
    /// On the thread that made it, which uses it directly.
    case confinement
  }

  // Constant, and read from anywhere.

  /// Where the context's work runs.
  public let concurrencyType: ConcurrencyType
  /// The coordinator at the root of the context's parents.
  public let persistentStoreCoordinator: PersistentStoreCoordinator
  /// The context that this one saves into, nil when it saves to the coordinator.
  public let parent: ManagedObjectContext?
  /// What it is known by to those that outlive it.
  let identity = ContextIdentity()
  private let labels: Mutex<Labels>
  let home: ContextHome
  let queue: DispatchQueue?
  /// Permanent IDs that the parent has given meanwhile; nil without a parent.
  let promotions: PromotedIDs?
  /// Where this context tells its children of permanent IDs. Children come and go on any thread.
  let children = ChildContexts()
  /// What others saved and this context is to merge by itself.
  let mailbox = SaveMailbox()

  /// The children that merge by themselves what this context saves and merges. Safe from any thread.
  let followers = SaveFollowers()

  /// Lets its children read while a save is in the store's hands; nil when they wait. Set before the context is shared.
  var door: WriteDoor?
  /// Whose save goes to the store, among those that are awaited. Safe from any thread.
  let storeTurn = StoreTurn()

  // Touched on the context's queue.

  /// Where its objects come from: the coordinator or the parent, or a snapshot of the stores that it is pinned to.
  var source: any ObjectSource
  /// The state of the stores that it is pinned to; nil for whatever they hold.
  var generation: QueryGenerationToken?
  // Those touched for each object of an import go unchecked by the exclusivity rule, whose accesses never overlap here.
  @exclusivity(unchecked) var registry = ObjectRegistry()
  /// New objects in the order of their insertion, those deleted since included.
  @exclusivity(unchecked) var insertions: ContiguousArray<ManagedObject> = []
  /// Rows that the next save inserts without an object for them.
  var newRows: [NewRows] = []
  /// Whether one of them has been deleted again.
  var hasVoidInsertions = false
  /// Whether one of them has relationships, in which temporary IDs may stand.
  var hasRelatedInsertions = false
  /// Changed objects in the order of their first change.
  var updates: ContiguousArray<ManagedObject> = []
  /// Objects to delete.
  var deletions: ContiguousArray<ManagedObject> = []
  /// Those of them to which the delete rules haven't been applied yet.
  var newDeletions: ContiguousArray<ManagedObject> = []
  /// Whatever the program wants to keep with the context: Core Data's `userInfo`. On the context's queue only.
  public var userInfo: [String: Any] {
    get {
      home.check()
      return notes
    }
    set {
      home.check()
      notes = newValue
    }
  }
  private var notes: [String: Any] = [:]
  /// Whether delete rules are applied at the end of each `perform` and on ``processPendingChanges()``, rather than by the
  /// save only. Source: `propagatesDeletesAtEndOfEvent` of Core Data.
  public var propagatesDeletesAtEndOfEvent = true
  /// Whether an object whose row the store turns out to have no more when it is to be read becomes a deleted object
  /// without values. Otherwise it stays a fault, and the next call that can throw says
  /// ``ManagedObjectError/objectNotFound(_:)``. Source: `shouldDeleteInaccessibleFaults` of Core Data.
  public var shouldDeleteInaccessibleFaults = true
  /// What takes changes back; nil, the default, when nothing is to be undone, which costs nothing then.
  /// Source: `undoManager` of Core Data.
  public var undoManager: UndoManager? {
    didSet { followUndoManager(insteadOf: oldValue) }
  }
  /// Saves of its own that others precede which it hasn't merged yet.
  var laterSaves: [LaterSave] = []
  /// What the next did-change notification tells.
  var pending = PendingChanges()
  /// Who follows its objects.
  var observers = ContextObservers()
  /// Whether new objects are told by a did-change notification: an import, whose context nobody watches, says no. Its
  /// saves are announced all the same.
  package var announcesChanges = true
  /// Whether it saves or merges, and what others saved has to wait.
  var isAtWork = false
  /// Whether an object is told that it has been read: what it sets is no change.
  var isAwakening = false
  /// Whether the failures of a save are being collected: validation that a class inherits has nothing to add.
  var isCollectingFailures = false
  /// Objects that are being told that they are to be deleted.
  var preparedDeletions: Set<ObjectIdentifier> = []
  /// Faults of fetches with a batch size.
  var faultBatches = FaultBatches()
  /// What the latest fetches with prefetching have read.
  var prefetched: [[ManagedObject]] = []
  /// Rows for faults that may have old values.
  var rowCache = RowCache()
  /// Permanent IDs of objects that somebody may still ask for by a temporary one.
  var permanentIDs = PermanentIDs()
  /// Where new objects are to be saved, by their temporary IDs, as far as somebody said it.
  var assignments: [ManagedObjectID: PersistentStore] = [:]
  /// What a save does when the store, or the parent, doesn't hold what was read here, or holds unique values already.
  /// To be set on the context's queue. Source: `mergePolicy` of Core Data.
  public var mergePolicy = MergePolicy.error
  /// A read that failed where it couldn't be thrown, to be thrown by the next call that can.
  var deferredError: (any Error)?

  /// A context that fetches from and saves to a coordinator.
  public convenience init(
    _ concurrencyType: ConcurrencyType, coordinator: PersistentStoreCoordinator, name: String? = nil,
    transactionAuthor: String? = nil
  ) {
    self.init(
      concurrencyType, coordinator: coordinator, parent: nil, source: coordinator, name: name,
      transactionAuthor: transactionAuthor)
  }

  /// A context that fetches from and saves into `parent`, one level up.
  public convenience init(
    _ concurrencyType: ConcurrencyType, parent: ManagedObjectContext, name: String? = nil,
    transactionAuthor: String? = nil
  ) {
    self.init(
      concurrencyType, coordinator: parent.persistentStoreCoordinator, parent: parent,
      source: ParentSource(parent: parent), name: name, transactionAuthor: transactionAuthor)
  }

  private init(
    _ concurrencyType: ConcurrencyType, coordinator: PersistentStoreCoordinator, parent: ManagedObjectContext?,
    source: any ObjectSource, name: String?, transactionAuthor: String?
  ) {
    self.concurrencyType = concurrencyType
    self.persistentStoreCoordinator = coordinator
    self.parent = parent
    self.source = source
    labels = Mutex(Labels(name: name, transactionAuthor: transactionAuthor))
    promotions = parent.map { $0.children.add() }
    home = ContextHome(concurrencyType)
    switch concurrencyType {
    case .mainQueue: queue = .main
    case .privateQueue: queue = DispatchQueue(label: "context" + (name.map { "." + $0 } ?? ""))
    case .confinement: queue = nil
    }
    if concurrencyType == .privateQueue { queue?.setSpecific(key: ContextHome.queueOwner, value: name ?? "") }
    home.context = self
    if concurrencyType == .mainQueue { mailbox.pause = .milliseconds(50) }
  }

  deinit {
    for object in insertions { object.state = .detached }
    for object in updates { object.state = .detached }
    for object in deletions { object.state = .detached }
    _ = registry.detachAll()
    home.context = nil
  }

  private struct Labels {
    var name: String?
    var transactionAuthor: String?
  }

  /// The context's name, for messages and history. Safe from any thread.
  public var name: String? {
    get { labels.withLock { $0.name } }
    set { labels.withLock { $0.name = newValue } }
  }

  /// Who changes things, for whoever is told of a save, and for history. Safe from any thread.
  /// Source: `transactionAuthor` of Core Data.
  public var transactionAuthor: String? {
    get { labels.withLock { $0.transactionAuthor } }
    set { labels.withLock { $0.transactionAuthor = newValue } }
  }

  /// Whether objects that nobody else holds are kept all the same, for as long as the context.
  /// Source: `retainsRegisteredObjects` of Core Data.
  public var retainsRegisteredObjects: Bool {
    get {
      home.check()
      return registry.retainsObjects
    }
    set {
      home.check()
      registry.retainsObjects = newValue
    }
  }

  /// The model of the coordinator.
  public var model: ManagedObjectModel { persistentStoreCoordinator.model }

  /// The entity of that name.
  /// - Throws: ``ManagedObjectError/unknownEntity(name:known:)``.
  func entity(_ name: String) throws -> EntityDescription {
    guard let entity = model.entitiesByName[name] else {
      throw ManagedObjectError.unknownEntity(name: name, known: model.entities.map(\.name))
    }
    return entity
  }
}

extension ManagedObjectContext: Hashable {
  /// Whether both are the same context.
  public static func == (a: ManagedObjectContext, b: ManagedObjectContext) -> Bool { a === b }
  /// Hashes the context's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
