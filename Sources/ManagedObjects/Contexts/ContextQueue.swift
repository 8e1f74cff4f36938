import Dispatch

/// A context's queue: what other threads hold of a context, and the only way to it from there.
///
/// A ``ManagedObjectContext`` isn't `Sendable`, and neither are its objects. The queue is: pass it around freely, and bring
/// work to the context with ``perform(_:)`` and ``performAndWait(_:)``. The block is given the context. Whatever it reads
/// belongs to the block, so the compiler refuses to let an object out of it, whether it is returned, captured, stored or sent;
/// IDs and values may leave.
///
/// ```swift
/// let background = container.newBackgroundContext()
/// let count = try await background.perform { context in
///   try context.count(for: FetchRequest<ManagedObject>(entityName: "Person"))
/// }
/// ```
///
/// The queue keeps its context alive. Two queues are equal when they are of the same context.
///
/// Core Data has no such type: there `NSManagedObjectContext` is both, and nothing keeps an object in its block.
public struct ContextQueue: @unchecked Sendable {
  // Sendable: the context is touched only on its own queue, by `run`, and where it says that it is safe from any thread:
  // its constants, its locked settings, its followers and its mailbox.

  /// The context itself, for the library's code that runs on its queue already, or touches only what is safe from any thread.
  let uncheckedContext: ManagedObjectContext

  init(of context: ManagedObjectContext) { uncheckedContext = context }

  // MARK: Making a context with a queue

  /// The queue of a new context whose ``persistentStoreCoordinator`` or ``parent`` is set afterwards. Before that it finds no
  /// entity: ``PersistentStoreError/noCoordinator(context:)``.
  ///
  /// Source: `init(concurrencyType:)` of Core Data.
  public init(
    _ concurrencyType: ManagedObjectContext.ConcurrencyType, name: String? = nil, transactionAuthor: String? = nil
  ) {
    self.init(of: ManagedObjectContext(type: concurrencyType, name: name, transactionAuthor: transactionAuthor))
  }

  /// The queue of a new context that fetches from and saves to a coordinator.
  public init(
    _ concurrencyType: ManagedObjectContext.ConcurrencyType, coordinator: PersistentStoreCoordinator,
    name: String? = nil, transactionAuthor: String? = nil
  ) {
    self.init(
      of: ManagedObjectContext(
        type: concurrencyType, coordinator: coordinator, name: name, transactionAuthor: transactionAuthor))
  }

  /// The queue of a new context that fetches from and saves into `parent`, one level up.
  public init(
    _ concurrencyType: ManagedObjectContext.ConcurrencyType, parent: ContextQueue, name: String? = nil,
    transactionAuthor: String? = nil
  ) {
    self.init(
      of: ManagedObjectContext(
        type: concurrencyType, parent: parent, name: name, transactionAuthor: transactionAuthor))
  }

  // MARK: Running work on the queue

  /// Runs `block` on the context's queue, some time after returning. For a confinement context, at once.
  ///
  /// May be called from anywhere. The changes that the block makes are announced when it ends.
  /// Source: `perform(_:)` of Core Data.
  public func perform(_ block: @escaping @Sendable (ManagedObjectContext) -> Void) {
    guard let queue = uncheckedContext.dispatchQueue else { return run(block) }
    queue.async { uncheckedContext.run { block(uncheckedContext) } }
  }

  /// Runs `block` on the context's queue and waits for its end.
  ///
  /// May be called from anywhere, even from within the context's own work and from another context's: nested calls
  /// run in order. The result has to be `Sendable`, so that no object leaves.
  /// Source: `performAndWait(_:)` of Core Data.
  public func performAndWait<T: Sendable>(_ block: @Sendable (ManagedObjectContext) throws -> T) rethrows -> T {
    try run(block)
  }

  /// Runs `block` on the context's queue and awaits its end without blocking a thread.
  ///
  /// It throws what the block throws, and nothing when that doesn't.
  /// Source: the asynchronous `perform(schedule:_:)` of Core Data.
  /// - Parameter schedule: whether a caller that is on the queue already, as one on the main actor may be, waits for its turn.
  public func perform<T: Sendable, Failure: Error>(
    schedule: ManagedObjectContext.ScheduledTaskType = .immediate, isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (ManagedObjectContext) throws(Failure) -> T
  ) async throws(Failure) -> T {
    guard let queue = uncheckedContext.dispatchQueue, schedule == .enqueued || !uncheckedContext.confinement.isCurrent
    else { return try run { context in Self.outcome(of: block, context) }.get() }
    let outcome: Result<T, Failure> = await withCheckedContinuation { continuation in
      queue.async {
        continuation.resume(returning: uncheckedContext.run { Self.outcome(of: block, uncheckedContext) })
      }
    }
    return try outcome.get()
  }

  private static func outcome<T, Failure: Error>(
    of block: (ManagedObjectContext) throws(Failure) -> T, _ context: ManagedObjectContext
  ) -> Result<T, Failure> {
    do throws(Failure) { return .success(try block(context)) } catch { return .failure(error) }
  }

  /// Runs the library's own `block` on the context's queue and waits for its end. What it returns isn't checked.
  func run<T>(_ block: (ManagedObjectContext) throws -> T) rethrows -> T {
    let context = uncheckedContext
    if context.confinement.isCurrent { return try context.run { try block(context) } }
    guard let queue = context.dispatchQueue else {
      context.confinement.check()
      return try block(context)
    }
    return try MainQueue.holding { try queue.sync { try context.run { try block(context) } } }
  }

  /// The context, for code that runs as its work already, where a block can't pass it on. The run-time check stands in for the
  /// compiler's, so this isn't public.
  package var current: ManagedObjectContext {
    uncheckedContext.confinement.check()
    return uncheckedContext
  }

  // MARK: Actors

  /// Runs an actor on the context's queue. The actor then uses the context without leaving its own functions:
  ///
  /// ```swift
  /// actor Repository {
  ///   private let queue: ContextQueue
  ///   init(_ queue: ContextQueue) { self.queue = queue }
  ///   nonisolated var unownedExecutor: UnownedSerialExecutor { queue.unownedExecutor }
  ///
  ///   func names() throws -> [String] {
  ///     try queue.context().fetch(FetchRequest<ManagedObject>(entityName: "Person")).map { "\($0.objectID)" }
  ///   }
  /// }
  /// ```
  ///
  /// The actor has to keep the queue. Each of its turns is a piece of the context's work, as a `perform` is. The main actor is
  /// such an actor for contexts of the main queue. A confinement context has no executor, and stops the program.
  public var unownedExecutor: UnownedSerialExecutor {
    switch uncheckedContext.concurrencyType {
    case .mainQueue: return MainActor.sharedUnownedExecutor
    case .privateQueue, .confinement:
      guard let executor = uncheckedContext.executor else {
        fatalError("a confinement context has no queue that an actor could run on: make it with .privateQueue")
      }
      return executor.asUnownedSerialExecutor()
    }
  }

  /// The context, for an actor that runs on its queue: the main actor, or one that has ``unownedExecutor`` as its executor. It
  /// becomes part of the actor's state, so that neither it nor its objects can leave the actor.
  ///
  /// ```swift
  /// @MainActor func show(_ container: PersistentContainer) throws {
  ///   let people = try container.viewContext.context().fetch(FetchRequest<ManagedObject>(entityName: "Person"))
  ///   print(people.count)
  /// }
  /// ```
  ///
  /// Changes are announced at the end of the actor's turn. Any other actor stops the program.
  public func context(isolation: isolated any Actor = #isolation) -> ManagedObjectContext {
    guard let theirs = isolation.unownedExecutor.asSerialExecutor(), let own = unownedExecutor.asSerialExecutor(),
      theirs === own
    else {
      fatalError(
        "an actor asked for the context of a queue that isn't its executor. Use perform, or make it its executor.")
    }
    return uncheckedContext
  }

  // MARK: Safe from any thread

  /// Where the context's work runs.
  public var concurrencyType: ManagedObjectContext.ConcurrencyType { uncheckedContext.concurrencyType }
  /// The coordinator at the root of the context's parents. It is set at most once, before the queue is used or passed around.
  public var persistentStoreCoordinator: PersistentStoreCoordinator {
    get { uncheckedContext.persistentStoreCoordinator }
    nonmutating set { uncheckedContext.persistentStoreCoordinator = newValue }
  }
  /// The queue of the context that this one saves into; nil when it saves to the coordinator. It is set at most once, before
  /// the queue is used or passed around, in place of a coordinator.
  public var parent: ContextQueue? {
    get { uncheckedContext.parent }
    nonmutating set { uncheckedContext.parent = newValue }
  }
  /// Identifies the context to objects that outlive it.
  var identity: ContextIdentity { uncheckedContext.identity }
  /// Passes permanent IDs to the children.
  var children: ChildContexts { uncheckedContext.children }
  /// The model of the coordinator.
  public var model: ManagedObjectModel { uncheckedContext.model }

  /// The context's name, for messages and history.
  public var name: String? {
    get { uncheckedContext.name }
    nonmutating set { uncheckedContext.name = newValue }
  }

  /// Who makes the changes, for readers of saves and of the history.
  /// Source: `transactionAuthor` of Core Data.
  public var transactionAuthor: String? {
    get { uncheckedContext.transactionAuthor }
    nonmutating set { uncheckedContext.transactionAuthor = newValue }
  }

  /// What a save does when the store or the parent has changed since a row was read, or holds its unique values already.
  /// Source: `mergePolicy` of Core Data.
  public var mergePolicy: MergePolicy {
    get { uncheckedContext.mergePolicy }
    nonmutating set { uncheckedContext.mergePolicy = newValue }
  }
}

extension ContextQueue {
  /// Whether the context announces new objects; see ``ManagedObjectContext/announcesChanges``. To be set before its first work.
  package var announcesChanges: Bool {
    get { uncheckedContext.announcesChanges }
    nonmutating set { uncheckedContext.announcesChanges = newValue }
  }
}

// What a program of Core Data calls, so that the compiler tells it where the context is.
extension ContextQueue {
  /// A context's; see ``ManagedObjectContext/fetch(_:)``.
  @available(*, unavailable, message: "use perform { context in … }, or context() on the main actor")
  public func fetch<T: ManagedObject>(_ request: FetchRequest<T>) throws -> [T] { try current.fetch(request) }

  /// A context's; see ``ManagedObjectContext/object(with:)``.
  @available(*, unavailable, message: "use perform { context in … }, or context() on the main actor")
  public func object(with id: ManagedObjectID) -> ManagedObject { current.object(with: id) }

  /// A context's; see ``ManagedObjectContext/existingObject(with:)``.
  @available(*, unavailable, message: "use perform { context in … }, or context() on the main actor")
  public func existingObject(with id: ManagedObjectID) throws -> ManagedObject { try current.existingObject(with: id) }

  /// A context's; see ``ManagedObjectContext/delete(_:)``.
  @available(*, unavailable, message: "use perform { context in … }, or context() on the main actor")
  public func delete(_ object: ManagedObject) { current.delete(object) }

  /// A context's; see ``ManagedObjectContext/save()``.
  @available(*, unavailable, message: "use perform { context in … }, or context() on the main actor")
  public func save() throws { try current.save() }
}

extension ContextQueue: Hashable {
  /// Whether both are of the same context.
  public static func == (a: ContextQueue, b: ContextQueue) -> Bool { a.uncheckedContext === b.uncheckedContext }
  /// Hashes the context's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(uncheckedContext)) }
}

extension ManagedObjectContext {
  /// Runs `block` on the context's queue, some time after returning. See ``ContextQueue/perform(_:)``.
  public func perform(_ block: @escaping @Sendable (ManagedObjectContext) -> Void) { queue.perform(block) }

  /// Runs `block` as a part of the work that the caller is doing on the context's queue. Its result stays there, so it may be an
  /// object. See ``ContextQueue/performAndWait(_:)``.
  public func performAndWait<T>(_ block: (ManagedObjectContext) throws -> T) rethrows -> T {
    confinement.check()
    return try run { try block(self) }
  }

  /// When the asynchronous ``ContextQueue/perform(schedule:isolation:_:)`` runs its block.
  /// Source: `NSManagedObjectContext.ScheduledTaskType` of Core Data.
  public enum ScheduledTaskType: Sendable {
    /// At once when the caller is on the context's queue, otherwise in its turn.
    case immediate
    /// After everything that waits for the queue.
    case enqueued
  }
}

/// The queue of a context that is held weakly.
package struct WeakContextQueue: @unchecked Sendable {
  // Sendable: the reference is only turned into a queue again, which is.
  private weak var context: ManagedObjectContext?

  package init(_ queue: ContextQueue) { context = queue.uncheckedContext }

  package var queue: ContextQueue? { context.map(ContextQueue.init(of:)) }
}

/// Runs the jobs of actors on a context's private queue, each as a piece of the context's work.
final class ContextExecutor: SerialExecutor {
  private let queue: DispatchQueue
  private let context: WeakContextQueue

  init(_ queue: DispatchQueue, _ context: ContextQueue) {
    self.queue = queue
    self.context = WeakContextQueue(context)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // Once the context is gone, no job can ask for it any more.
    let context = context.queue
    queue.async {
      let executor = self.asUnownedSerialExecutor()
      guard let context = context?.uncheckedContext else { return job.runSynchronously(on: executor) }
      context.run { job.runSynchronously(on: executor) }
    }
  }

  func checkIsolated() {
    guard let context = context.queue?.uncheckedContext else { return dispatchPrecondition(condition: .onQueue(queue)) }
    context.confinement.check()
  }
}
