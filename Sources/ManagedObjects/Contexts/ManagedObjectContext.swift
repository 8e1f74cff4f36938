import Dispatch
import Logging
import Synchronization

// A context is composed of parts, each of which alone touches its state:
//
//   QueueConfinement   the queue rule, checked by every access (rule 1, ARCHITECTURE.md)
//   ObjectRegistry     the objects by ID, and the permanent IDs that replaced temporary ones
//   ChangeSet          unsaved insertions, updates and deletions
//   ChangeNotifier     changes that aren't announced yet, and the observers
//   ContextSource      where rows come from and go to; the pinned generation; the error of a read that couldn't throw
//   FetchCache         rows, batches and prefetched objects that fetches leave behind
//   MergeQueue         other contexts' saves that wait to be merged
//   SaveFollowers      the children that merge by themselves; ChildContexts: those that may know temporary IDs
//   ObjectCallbacks    methods that the program's classes override
//   UndoRecorder       the undo manager, and the steps registered with it
//
// The extensions of this type are verbs: they call the parts and each other. `SaveMerger`, `ConflictResolver` and
// `DeleteRules` are the longer procedures.

/// A scratch pad of objects over a coordinator or a parent context: it fetches, tracks changes, and saves them.
///
/// A context belongs to a queue (see ``ConcurrencyType``). It and its objects are touched there only, which the compiler keeps
/// and every access checks. Neither is `Sendable`: what is passed around is the context's ``queue``, a ``ContextQueue``, whose
/// `perform` and `performAndWait` bring work to the context from anywhere.
///
/// Source: Core Data's `NSManagedObjectContext`.
public final class ManagedObjectContext {
  /// Where a context's work runs: Core Data's `NSManagedObjectContextConcurrencyType`.
  public enum ConcurrencyType: Sendable {
    /// On the main queue.
    case mainQueue
    /// On a serial queue of its own.
    case privateQueue
    /// On the thread that made it, which uses it directly.
    case confinement
  }

  /// The type of a context that belongs to the thread that makes it.
  public enum ThreadConfinement: Sendable {
    /// As ``ConcurrencyType/confinement``.
    case confinement
  }

  // MARK: Constant, and safe from any thread

  /// Where the context's work runs.
  public let concurrencyType: ConcurrencyType
  /// The context's queue, which may be passed around. Safe from any thread.
  public var queue: ContextQueue { ContextQueue(of: self) }
  /// Identifies the context to objects that outlive it.
  let identity = ContextIdentity()
  private let shared: Mutex<Shared>
  let confinement: QueueConfinement
  let dispatchQueue: DispatchQueue?
  /// Runs actors on the private queue of the context; nil without one.
  private(set) var executor: ContextExecutor?
  /// Passes permanent IDs to the children. Children come and go on any thread.
  let children = ChildContexts()
  /// The children that merge by themselves what this context saves and merges.
  let followers = SaveFollowers()
  /// Another number after each change of the context, for children that ask whether their values are still the latest.
  let version = Atomic<Int64>(0)
  /// Lets children read while the store writes a save of this context; nil when they have to wait.
  let readGate: ReadGate?

  // MARK: Set once, before the first use

  private var base: (coordinator: PersistentStoreCoordinator, parent: ContextQueue?)
  /// Permanent IDs that the parent has given to objects of this context; nil without a parent.
  private(set) var promotions: PromotedIDs?

  /// The coordinator at the root of the context's parents. A context that was made by ``init(_:name:transactionAuthor:)`` gets it
  /// once, before its first use; it has one without stores before.
  ///
  /// Source: `persistentStoreCoordinator` of Core Data.
  public var persistentStoreCoordinator: PersistentStoreCoordinator {
    get {
      guard base.coordinator === PersistentStoreCoordinator.none, let parent else { return base.coordinator }
      // The parent has got it since.
      return parent.persistentStoreCoordinator
    }
    set { attach(to: newValue, nil, newValue) }
  }

  /// The queue of the context that this one saves into; nil when it saves to the coordinator. A context that was made by
  /// ``init(_:name:transactionAuthor:)`` gets it once, before its first use, in place of a coordinator.
  ///
  /// Source: `parent` of Core Data.
  public var parent: ContextQueue? {
    get { base.parent }
    set {
      guard let newValue else {
        return precondition(base.parent == nil, "a context can't lose its parent: make another context")
      }
      attach(
        to: newValue.persistentStoreCoordinator, newValue,
        ParentSource(parent: newValue, mailbox: mergeQueue.mailbox))
    }
  }

  // MARK: Touched on the context's queue

  /// The parts that others reach by ``registry`` and ``changeSet``, for what adopted rows don't concern.
  let bareRegistry = ObjectRegistry()
  let bareChangeSet = ChangeSet()
  let notifier = ChangeNotifier()
  let rowSource: ContextSource
  let fetchCache = FetchCache()
  let mergeQueue: MergeQueue
  let callbacks = ObjectCallbacks()
  let undoRecorder = UndoRecorder()

  /// The log of what no call can report.
  static let logger = Logger(label: "ManagedObjects")

  // MARK: Settings

  // Set and read on the context's queue by the program, so they aren't private.

  /// Whether delete rules are applied at the end of each `perform` and on ``processPendingChanges()``, rather than by the
  /// save only. Source: `propagatesDeletesAtEndOfEvent` of Core Data.
  public var propagatesDeletesAtEndOfEvent = true {
    willSet { confinement.check() }
  }
  /// Whether a fault whose row is gone from the store becomes a deleted object without values. Otherwise it stays a fault,
  /// and the next call of the same block that can throw, or the next save, throws ``ManagedObjectError/objectNotFound(_:)``.
  /// Source: `shouldDeleteInaccessibleFaults` of Core Data.
  public var shouldDeleteInaccessibleFaults = true {
    willSet { confinement.check() }
  }
  /// Called on the context's queue with what it was given to merge and couldn't, after the rest has been merged. It is logged,
  /// too. Set on the context's queue.
  public var mergeProblemHandler: (([MergeProblem]) -> Void)? {
    willSet { confinement.check() }
  }
  private var storedUserInfo: [String: Any] = [:]
  /// Whether a block of the program runs on the context's queue. Blocks that it runs in turn belong to the same event.
  private var isInEvent = false

  /// Values of the program's choice: Core Data's `userInfo`. On the context's queue only.
  public var userInfo: [String: Any] {
    get {
      confinement.check()
      return storedUserInfo
    }
    set {
      confinement.check()
      storedUserInfo = newValue
    }
  }

  /// Records the context's changes, so that they can be undone; nil, the default, records nothing and costs nothing.
  /// Source: `undoManager` of Core Data.
  public var undoManager: UndoManager? {
    get {
      confinement.check()
      return undoRecorder.manager
    }
    set {
      confinement.check()
      if bareChangeSet.hasAdoptedRows { makeAdoptedObjects() }
      undoRecorder.follow(newValue, self)
    }
  }

  /// The row that each save of the context compares, in the transaction that writes its changes; nil for none. A save is refused
  /// with ``SupersededSave`` once the row has changed or is gone. Of a context without a parent; batch requests don't compare it.
  package var fence: SaveFence? {
    willSet {
      confinement.check()
      precondition(parent == nil, "a context with a parent doesn't write to the store that has the fence")
    }
  }

  /// Whether new objects are announced by a did-change notification, and saves and merges by notifications with IDs. A
  /// context that nothing observes in this way, as that of an import, sets it to false; its saves are announced all the same.
  package var announcesChanges: Bool {
    get { notifier.announcesInsertions }
    set { notifier.announcesInsertions = newValue }
  }

  /// Whether objects that only the context holds are kept for as long as the context.
  /// Source: `retainsRegisteredObjects` of Core Data.
  public var retainsRegisteredObjects: Bool {
    get {
      confinement.check()
      return registry.retainsObjects
    }
    set {
      confinement.check()
      registry.retainsObjects = newValue
    }
  }

  // MARK: Making a context

  /// A context whose ``persistentStoreCoordinator`` or ``parent`` is set afterwards. Before that it finds no entity:
  /// ``PersistentStoreError/noCoordinator(context:)``.
  ///
  /// Source: `init(concurrencyType:)` of Core Data.
  public convenience init(
    _ confinement: ThreadConfinement, name: String? = nil, transactionAuthor: String? = nil
  ) {
    self.init(type: .confinement, name: name, transactionAuthor: transactionAuthor)
  }

  convenience init(type concurrencyType: ConcurrencyType, name: String?, transactionAuthor: String?) {
    let none = PersistentStoreCoordinator.none
    self.init(
      concurrencyType, coordinator: none, parent: nil, source: none, name: name, transactionAuthor: transactionAuthor)
  }

  /// Gives the context its coordinator or parent.
  private func attach(
    to coordinator: PersistentStoreCoordinator, _ parent: ContextQueue?, _ source: any ObjectSource
  ) {
    if base.coordinator === coordinator, base.parent == parent { return }
    let none = PersistentStoreCoordinator.none
    precondition(
      base.coordinator === none && base.parent == nil,
      "the coordinator or parent of a context is set once, before its first use: make another context")
    let follows = none.followers.contains(queue)
    if follows { none.followers.remove(queue) }
    base = (coordinator, parent)
    rowSource.attach(to: source, coordinator: coordinator)
    promotions = parent.map { $0.children.add() }
    if follows { (parent?.followers ?? coordinator.followers).add(queue) }
  }

  /// A context of the calling thread, which fetches from and saves to a coordinator. ``ContextQueue`` makes contexts with a
  /// queue.
  public convenience init(
    _ confinement: ThreadConfinement, coordinator: PersistentStoreCoordinator, name: String? = nil,
    transactionAuthor: String? = nil
  ) {
    self.init(type: .confinement, coordinator: coordinator, name: name, transactionAuthor: transactionAuthor)
  }

  /// A context of the calling thread, which fetches from and saves into `parent`, one level up.
  public convenience init(
    _ confinement: ThreadConfinement, parent: ContextQueue, name: String? = nil, transactionAuthor: String? = nil
  ) {
    self.init(type: .confinement, parent: parent, name: name, transactionAuthor: transactionAuthor)
  }

  /// A context of the calling thread, which fetches from and saves into another of the same thread.
  public convenience init(
    _ confinement: ThreadConfinement, parent: ManagedObjectContext, name: String? = nil,
    transactionAuthor: String? = nil
  ) {
    self.init(type: .confinement, parent: parent.queue, name: name, transactionAuthor: transactionAuthor)
  }

  convenience init(
    type concurrencyType: ConcurrencyType, coordinator: PersistentStoreCoordinator, name: String?,
    transactionAuthor: String?
  ) {
    self.init(
      concurrencyType, coordinator: coordinator, parent: nil, source: coordinator, name: name,
      transactionAuthor: transactionAuthor)
  }

  convenience init(
    type concurrencyType: ConcurrencyType, parent: ContextQueue, name: String?, transactionAuthor: String?
  ) {
    let mergeQueue = MergeQueue()
    self.init(
      concurrencyType, coordinator: parent.persistentStoreCoordinator, parent: parent,
      source: ParentSource(parent: parent, mailbox: mergeQueue.mailbox), name: name,
      transactionAuthor: transactionAuthor, mergeQueue: mergeQueue)
  }

  /// A private context that writes for its children, which may read from it while the store writes.
  convenience init(writerOn coordinator: PersistentStoreCoordinator, name: String) {
    self.init(
      .privateQueue, coordinator: coordinator, parent: nil, source: coordinator, name: name, transactionAuthor: nil,
      readGate: ReadGate())
  }

  private init(
    _ concurrencyType: ConcurrencyType, coordinator: PersistentStoreCoordinator, parent: ContextQueue?,
    source: any ObjectSource, name: String?, transactionAuthor: String?, readGate: ReadGate? = nil,
    mergeQueue: MergeQueue = MergeQueue()
  ) {
    self.concurrencyType = concurrencyType
    base = (coordinator, parent)
    self.readGate = readGate
    self.mergeQueue = mergeQueue
    rowSource = ContextSource(source, coordinator: coordinator)
    shared = Mutex(Shared(name: name, transactionAuthor: transactionAuthor))
    promotions = parent.map { $0.children.add() }
    confinement = QueueConfinement(concurrencyType)
    switch concurrencyType {
    case .mainQueue: dispatchQueue = .main
    case .privateQueue: dispatchQueue = DispatchQueue(label: "context" + (name.map { "." + $0 } ?? ""))
    case .confinement: dispatchQueue = nil
    }
    if concurrencyType == .privateQueue {
      dispatchQueue?.setSpecific(key: QueueConfinement.queueOwner, value: name ?? "")
    }
    confinement.context = self
    if concurrencyType == .privateQueue { executor = dispatchQueue.map { ContextExecutor($0, queue) } }
    if concurrencyType == .mainQueue {
      mergeQueue.mailbox.pause = .milliseconds(50)
      notifier.becameDue = { [unowned self] in self.endEventLater() }
    }
  }

  deinit {
    bareChangeSet.detachAll()
    _ = bareRegistry.detachAll()
    confinement.context = nil
  }

  // MARK: Settings that are safe from any thread

  private struct Shared {
    var name: String?
    var transactionAuthor: String?
    var mergePolicy = MergePolicy.error
  }

  /// The context's name, for messages and history. Safe from any thread.
  public var name: String? {
    get { shared.withLock { $0.name } }
    set { shared.withLock { $0.name = newValue } }
  }

  /// Who makes the changes, for readers of saves and of the history. Safe from any thread.
  /// Source: `transactionAuthor` of Core Data.
  public var transactionAuthor: String? {
    get { shared.withLock { $0.transactionAuthor } }
    set { shared.withLock { $0.transactionAuthor = newValue } }
  }

  /// What a save does when the store or the parent has changed since a row was read here, or holds its unique values
  /// already. Safe from any thread. Source: `mergePolicy` of Core Data.
  public var mergePolicy: MergePolicy {
    get { shared.withLock { $0.mergePolicy } }
    set { shared.withLock { $0.mergePolicy = newValue } }
  }

  /// The model of the coordinator.
  public var model: ManagedObjectModel { persistentStoreCoordinator.model }

  /// The entity of that name.
  /// - Throws: ``ManagedObjectError/unknownEntity(name:known:)``.
  func entity(_ name: String) throws -> EntityDescription {
    guard let entity = model.entitiesByName[name] else {
      if persistentStoreCoordinator === PersistentStoreCoordinator.none {
        throw PersistentStoreError.noCoordinator(context: self.name)
      }
      throw ManagedObjectError.unknownEntity(name: name, known: model.entities.map(\.name))
    }
    return entity
  }

  // MARK: Running work on the context's queue

  /// Runs `block` as the context's work. The caller is on the context's queue.
  ///
  /// The outermost block is an event: other contexts' saves that wait are merged before it, and its changes are announced
  /// after it. No merge happens within it, so that what the program has read there stays as it is until it has saved, and
  /// optimistic locking finds what others have saved by then.
  /// - Parameter isForChild: whether a child reads, which is no work of the context's own.
  func run<T>(isForChild: Bool = false, _ block: () throws -> T) rethrows -> T {
    let turn = concurrencyType == .mainQueue ? MainQueueTurn.begin() : nil
    defer { turn?.end() }
    return try confinement.own {
      if isInEvent {
        takePromotedIDs()
        return try block()
      }
      if !isForChild { bareRegistry.beginEra() }
      isInEvent = true
      defer {
        processPendingChanges()
        isInEvent = false
        if rowSource.hasErrorOfBlock { endBlockWithError() }
        // Observers may have changed objects.
        if concurrencyType == .mainQueue, !notifier.isEmpty { endEventLater() }
      }
      mergeWaitingSaves()
      takePromotedIDs()
      return try block()
    }
  }

  /// Logs the error of a read that the block which ends couldn't learn of.
  private func endBlockWithError() {
    guard let error = rowSource.endBlock(hasChanges: hasChanges) else { return }
    Self.logger.warning(
      "the context \"\(name ?? "")\" couldn't read an object, which a block took for empty: \(String(describing: error))"
    )
  }

  /// Announces changes of a main-queue context that were made without a block around them, as those of a callback on the main
  /// queue. In Core Data the run loop does so at the end of its turn.
  private func endEventLater() {
    if isInEvent { return }
    let held = WeakContextQueue(queue)
    DispatchQueue.main.async { held.queue?.uncheckedContext.run {} }
  }

  // MARK: Reading

  /// Where the context's rows come from and its changes go.
  var source: any ObjectSource {
    mergeQueue.mailbox.noteRead()
    rowSource.noteRead()
    // What is read now belongs to an era that has seen everything up to here.
    bareRegistry.noteVersion(sourceVersion)
    return rowSource.current
  }

  /// Identifies the state of what the context reads: another number after a save of any context into the coordinator, and after
  /// a change of a parent.
  var sourceVersion: Int64 {
    // Asked at each look-up: a context without a parent must not count references for it.
    guard var above = base.parent else { return base.coordinator.version }
    var version = persistentStoreCoordinator.version
    while true {
      version &+= above.uncheckedContext.version.load(ordering: .relaxed)
      guard let next = above.parent else { return version }
      above = next
    }
  }

  /// Runs a read whose caller can't throw. Its error is thrown by the next call of the same block that can, other than a
  /// look-up of another object, and by the next save. If nothing throws it, it is logged at the block's end.
  func reading<T>(_ body: () throws -> T) -> T? { rowSource.reading(body) }

  /// Throws the error of an earlier read whose caller couldn't.
  @inline(__always)
  func throwDeferredError() throws { try rowSource.throwDeferredError() }
}

@available(*, unavailable, message: "a context stays on its queue: pass its queue, and use perform")
extension ManagedObjectContext: Sendable {}

extension ManagedObjectContext: Hashable {
  /// Whether both are the same context.
  public static func == (a: ManagedObjectContext, b: ManagedObjectContext) -> Bool { a === b }
  /// Hashes the context's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
