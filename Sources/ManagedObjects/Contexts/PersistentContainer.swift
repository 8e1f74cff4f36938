/// A coordinator with its stores, and contexts stacked on it in one of three ways: set up in one call.
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
/// Source: Core Data's `NSPersistentContainer`, which has the first of the three stacks. Here the stores are opened by the
/// initializer, which throws what goes wrong.
public final class PersistentContainer: Sendable {
  /// The arrangement of a container's contexts.
  public enum Stack: String, Sendable, CaseIterable {
    /// Independent contexts on one coordinator. A background context saves to the store. The view context merges the saves by
    /// itself, and its queue does nothing else.
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
  /// The context for reading, and for short changes; on the main queue unless the container was made otherwise.
  public let viewContext: ManagedObjectContext
  /// The context that writes to the store, in ``Stack/privateWriter``; nil in the other stacks.
  public let writerContext: ManagedObjectContext?

  /// Opens stores and stacks contexts on them.
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
    let coordinator = PersistentStoreCoordinator(model: model)
    for store in stores { try coordinator.addPersistentStore(store) }
    self.init(name: name, coordinator: coordinator, stack: stack, viewQueue: viewQueue)
  }

  /// Stacks contexts on a coordinator that others may use, too.
  public init(
    name: String = "container", coordinator: PersistentStoreCoordinator, stack: Stack = .independent,
    viewQueue: ManagedObjectContext.ConcurrencyType = .mainQueue
  ) {
    self.name = name
    self.stack = stack
    persistentStoreCoordinator = coordinator
    switch stack {
    case .independent, .mainWithChildren:
      writerContext = nil
      viewContext = ManagedObjectContext(viewQueue, coordinator: coordinator, name: "\(name) view")
    case .privateWriter:
      let writer = ManagedObjectContext(writerOn: coordinator, name: "\(name) writer")
      writerContext = writer
      viewContext = ManagedObjectContext(viewQueue, parent: writer, name: "\(name) view")
    }
    // In the other stacks, background contexts save into the view context itself.
    if stack == .independent, viewContext.queue != nil { coordinator.followers.add(viewContext) }
  }

  /// A new context with a queue of its own, for work in the background: on the coordinator or under the view context, as
  /// the stack has it. May be called from anywhere.
  /// Source: `newBackgroundContext()` of Core Data.
  public func newBackgroundContext() -> ManagedObjectContext {
    let name = "\(name) background"
    switch stack {
    case .independent:
      return ManagedObjectContext(.privateQueue, coordinator: persistentStoreCoordinator, name: name)
    case .mainWithChildren, .privateWriter:
      return ManagedObjectContext(.privateQueue, parent: viewContext, name: name)
    }
  }

  /// Runs `block` with a new background context, on its queue, some time after returning. Unsaved changes are lost.
  /// Source: `performBackgroundTask(_:)` of Core Data.
  public func performBackgroundTask(_ block: @escaping @Sendable (ManagedObjectContext) -> Void) {
    let context = newBackgroundContext()
    context.perform { block(context) }
  }

  /// Runs `block` with a new background context, on its queue, and awaits its result. Unsaved changes are lost.
  /// Source: the asynchronous `performBackgroundTask(_:)` of Core Data.
  public func performBackgroundTask<T: Sendable>(
    _ block: @escaping @Sendable (ManagedObjectContext) throws -> T
  ) async throws -> T {
    let context = newBackgroundContext()
    return try await context.perform { try block(context) }
  }
}
