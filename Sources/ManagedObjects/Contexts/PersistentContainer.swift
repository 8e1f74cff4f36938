public import Foundation
import Synchronization

/// A coordinator with its stores, and contexts stacked on it in one of three ways.
///
/// In one call, which throws what goes wrong:
///
/// ```swift
/// let container = try PersistentContainer(
///   model: model, stores: [.sqlite(at: file)], stack: .independent)
/// try await container.performBackgroundTask { context in
///   try context.insert("Person").setValue(.string("Ada"), forKey: "name")
///   try context.save()
/// }
/// ```
///
/// Or in Core Data's steps: make it, change its ``persistentStoreDescriptions``, and load them by
/// ``loadPersistentStores(completionHandler:)`` or `loadPersistentStores()`. A subclass is the place for a program's own
/// contexts and queries, and restates that it is `@unchecked Sendable`.
///
/// Safe from any thread.
///
/// Source: Core Data's `NSPersistentContainer`, which has the first of the three stacks.
open class PersistentContainer: @unchecked Sendable {
  // Sendable: the descriptions are under a lock, and the rest is constant. A subclass answers for its own properties.

  /// The arrangement of a container's contexts.
  public enum Stack: String, Sendable, CaseIterable {
    /// Independent contexts on one coordinator. A background context saves to the store. The view context merges the saves,
    /// by itself if ``ContextQueue/automaticallyMergesChangesFromParent`` is set, and its queue does nothing else.
    case independent
    /// Background contexts are children of the view context. Their saves go into it and no further; saving it writes to the
    /// store on its own queue.
    case mainWithChildren
    /// A private writer, the view context as its child, and background contexts as children of that: three saves reach
    /// the disk, and only the writer's queue waits for it if each context is saved on its own queue.
    case privateWriter
  }

  /// The container's name, which its contexts' names begin with.
  public let name: String
  /// The arrangement of the contexts.
  public let stack: Stack
  /// The coordinator of all its contexts.
  public let persistentStoreCoordinator: PersistentStoreCoordinator
  /// The context for reading, and for short changes; on the main queue unless the container was made otherwise. As in Core
  /// Data it merges nothing by itself until ``ContextQueue/automaticallyMergesChangesFromParent`` is set.
  public let viewContext: ContextQueue
  /// The context that writes to the store, in ``Stack/privateWriter``; nil in the other stacks.
  public let writerContext: ContextQueue?
  private let descriptions: Mutex<[PersistentStoreDescription]>

  /// The model of all the stores.
  public var managedObjectModel: ManagedObjectModel { persistentStoreCoordinator.model }

  /// The stores that loading opens, in this order; at first one SQLite file, `NAME.sqlite` in ``defaultDirectoryURL()``.
  ///
  /// Source: `persistentStoreDescriptions` of Core Data. Descriptions are values: change them in this array.
  public var persistentStoreDescriptions: [PersistentStoreDescription] {
    get { descriptions.withLock { $0 } }
    set { descriptions.withLock { $0 = newValue } }
  }

  /// The directory of stores whose description was made by the container: `NAME` of the program in the user's directory for
  /// applications' data, `$XDG_DATA_HOME` or `~/.local/share`. Override it to have another. Loading creates it.
  ///
  /// Source: `defaultDirectoryURL()` of Core Data.
  open class func defaultDirectoryURL() -> URL {
    let program = ProcessInfo.processInfo.processName
    let data =
      FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
      ?? FileManager.default.homeDirectoryForCurrentUser
    return data.appendingPathComponent(program, isDirectory: true)
  }

  // MARK: Making a container

  /// Stacks contexts on a new coordinator, whose stores are loaded later.
  ///
  /// Source: `init(name:managedObjectModel:)` of Core Data.
  /// - Parameters:
  ///   - name: the beginning of the contexts' names, for messages and history, and the name of the file.
  ///   - managedObjectModel: the model of all the stores.
  ///   - stack: the arrangement of the contexts.
  ///   - viewQueue: the view context's queue. A program that doesn't run its main queue gives it a queue of its own.
  public init(
    name: String, managedObjectModel: ManagedObjectModel, stack: Stack = .independent,
    viewQueue: ManagedObjectContext.ConcurrencyType = .mainQueue
  ) {
    self.name = name
    self.stack = stack
    let coordinator = PersistentStoreCoordinator(model: managedObjectModel)
    persistentStoreCoordinator = coordinator
    (writerContext, viewContext) = Self.contexts(on: coordinator, name, stack, viewQueue)
    descriptions = Mutex([])
    let file = type(of: self).defaultDirectoryURL().appendingPathComponent("\(name).sqlite", isDirectory: false)
    persistentStoreDescriptions = [PersistentStoreDescription(url: file)]
  }

  /// Stacks contexts on a coordinator that others may use, too, with the stores that it has.
  public init(
    name: String = "container", coordinator: PersistentStoreCoordinator, stack: Stack = .independent,
    viewQueue: ManagedObjectContext.ConcurrencyType = .mainQueue
  ) {
    self.name = name
    self.stack = stack
    persistentStoreCoordinator = coordinator
    (writerContext, viewContext) = Self.contexts(on: coordinator, name, stack, viewQueue)
    descriptions = Mutex([])
  }

  /// Opens stores and stacks contexts on them: ``init(name:managedObjectModel:stack:viewQueue:)``, then
  /// `loadPersistentStores()`.
  ///
  /// - Parameters:
  ///   - name: the beginning of the contexts' names, for messages and history.
  ///   - model: the model of all the stores.
  ///   - stores: the stores to open, in this order.
  ///   - stack: the arrangement of the contexts.
  ///   - viewQueue: the view context's queue. A program that doesn't run its main queue gives it a queue of its own.
  /// - Throws: what ``PersistentStoreCoordinator/addPersistentStore(_:)`` throws.
  public convenience init(
    name: String = "container", model: ManagedObjectModel, stores: [PersistentStoreDescription],
    stack: Stack = .independent, viewQueue: ManagedObjectContext.ConcurrencyType = .mainQueue
  ) throws {
    self.init(name: name, managedObjectModel: model, stack: stack, viewQueue: viewQueue)
    persistentStoreDescriptions = stores
    try loadPersistentStores()
  }

  private static func contexts(
    on coordinator: PersistentStoreCoordinator, _ name: String, _ stack: Stack,
    _ viewQueue: ManagedObjectContext.ConcurrencyType
  ) -> (writer: ContextQueue?, view: ContextQueue) {
    switch stack {
    case .independent:
      return (nil, ContextQueue(viewQueue, coordinator: coordinator, name: "\(name) view"))
    case .mainWithChildren:
      return (nil, ContextQueue(viewQueue, coordinator: coordinator, name: "\(name) view"))
    case .privateWriter:
      let writer = ManagedObjectContext(writerOn: coordinator, name: "\(name) writer").queue
      return (writer, ContextQueue(viewQueue, parent: writer, name: "\(name) view"))
    }
  }

  // MARK: Loading stores

  /// Opens the stores of the ``persistentStoreDescriptions``, one after the other. A failure of one doesn't keep the next from
  /// being opened.
  ///
  /// Source: `loadPersistentStores(completionHandler:)` of Core Data.
  /// - Parameter completionHandler: called once for each description, with the error or nil: before this method returns, or,
  ///   for those with ``PersistentStoreDescription/shouldAddStoreAsynchronously``, on a thread in the background.
  public func loadPersistentStores(
    completionHandler: @escaping @Sendable (PersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions {
      do {
        try makeDirectory(of: description)
      } catch {
        completionHandler(description, error)
        continue
      }
      persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: completionHandler)
    }
  }

  /// Opens the stores of the ``persistentStoreDescriptions``, on the calling thread.
  /// - Throws: the first error, of ``PersistentStoreCoordinator/addPersistentStore(_:)`` or of making the default directory. The
  ///   stores before it stay added.
  public func loadPersistentStores() throws {
    for description in persistentStoreDescriptions {
      try makeDirectory(of: description)
      try persistentStoreCoordinator.addPersistentStore(description)
    }
  }

  /// Opens the stores of the ``persistentStoreDescriptions`` on a thread in the background, and awaits them.
  /// - Throws: as the synchronous form does.
  public func loadPersistentStores() async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      DispatchQueue.global().async { continuation.resume(with: Result { try self.loadPersistentStores() }) }
    }
  }

  /// Makes the default directory for a file in it.
  private func makeDirectory(of description: PersistentStoreDescription) throws {
    guard description.type == .sqlite, !description.isReadOnly, let file = description.url else { return }
    let directory = type(of: self).defaultDirectoryURL()
    guard file.deletingLastPathComponent().standardizedFileURL.path == directory.standardizedFileURL.path else {
      return
    }
    do {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    } catch {
      throw ManagedObjectError.store(
        StoreFailure(.cannotOpen, path: directory.path, message: "the directory can't be made: \(error)"))
    }
  }

  // MARK: Contexts

  /// A new context with a queue of its own, for work in the background: on the coordinator or under the view context, as
  /// the stack has it. May be called from anywhere.
  /// Source: `newBackgroundContext()` of Core Data.
  open func newBackgroundContext() -> ContextQueue {
    let name = "\(name) background"
    switch stack {
    case .independent:
      return ContextQueue(.privateQueue, coordinator: persistentStoreCoordinator, name: name)
    case .mainWithChildren, .privateWriter:
      return ContextQueue(.privateQueue, parent: viewContext, name: name)
    }
  }

  /// Runs `block` with a new background context, on its queue, some time after returning. Unsaved changes are lost.
  /// Source: `performBackgroundTask(_:)` of Core Data.
  open func performBackgroundTask(_ block: @escaping @Sendable (ManagedObjectContext) -> Void) {
    newBackgroundContext().perform(block)
  }

  /// Runs `block` with a new background context, on its queue, and awaits its result. Unsaved changes are lost.
  /// Source: the asynchronous `performBackgroundTask(_:)` of Core Data.
  open func performBackgroundTask<T: Sendable, Failure: Error>(
    _ block: @escaping @Sendable (ManagedObjectContext) throws(Failure) -> T
  ) async throws(Failure) -> T {
    try await newBackgroundContext().perform(block)
  }
}
