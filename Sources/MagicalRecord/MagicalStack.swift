public import Foundation
public import ManagedObjects
public import SQLiteStore

/// A coordinator with the contexts that a program works in.
///
/// ```
///   with a saving context (the default)          without nesting
///
///   coordinator                                  coordinator
///       │                                          │      │
///   rootSavingContext  (private queue)   defaultContext  newPrivateContext()
///       │            │                   (main queue)    (private queues)
///   defaultContext  newPrivateContext()
///   (main queue)    (private queues)
/// ```
///
/// The default context merges the saves of the others. With a saving context the main queue never waits for the store:
/// ``ManagedObjectContext/saveToPersistentStore(completion:)`` saves one level at a time, each on its own queue.
///
/// Source: MagicalRecord's stacks. Safe from any thread.
public final class MagicalStack: Sendable {
  /// Whether the default context saves into another context or to the coordinator.
  public enum Nesting: Sendable {
    /// Root saving context ← default context and private contexts.
    case savingContext
    /// Every context saves to the coordinator.
    case none
  }

  /// The coordinator at the root.
  public let coordinator: PersistentStoreCoordinator
  /// The context that saves for the others, on a queue of its own; nil without nesting.
  public let rootSavingContext: ContextQueue?
  /// The context of the main queue.
  public let defaultContext: ContextQueue
  private let observation: Observation

  /// Opens a store and makes the contexts.
  /// - Parameter store: such as `.inMemory()`, or `.sqlite(at:)`, which migrates older stores unless the description
  ///   forbids it.
  /// - Throws: an error of opening the store.
  public convenience init(
    model: ManagedObjectModel, store: PersistentStoreDescription = .inMemory(), nesting: Nesting = .savingContext
  ) throws {
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addPersistentStore(store)
    self.init(coordinator: coordinator, nesting: nesting)
  }

  /// Makes the contexts over stores that are open.
  public init(coordinator: PersistentStoreCoordinator, nesting: Nesting = .savingContext) {
    self.coordinator = coordinator
    switch nesting {
    case .savingContext:
      let root = ContextQueue(.privateQueue, coordinator: coordinator, name: "root saving")
      rootSavingContext = root
      defaultContext = ContextQueue(.mainQueue, parent: root, name: "default")
    case .none:
      rootSavingContext = nil
      defaultContext = ContextQueue(.mainQueue, coordinator: coordinator, name: "default")
    }
    observation = Observation(defaultContext)
  }

  /// A stack in memory, gone when it is released.
  public static func inMemory(model: ManagedObjectModel, nesting: Nesting = .savingContext) throws -> MagicalStack {
    try MagicalStack(model: model, store: .inMemory(), nesting: nesting)
  }

  /// A new context on a queue of its own, which saves to the same place as the default context.
  public func newPrivateContext(name: String? = nil) -> ContextQueue {
    if let root = rootSavingContext { return ContextQueue(.privateQueue, parent: root, name: name) }
    return ContextQueue(.privateQueue, coordinator: coordinator, name: name)
  }

  /// A new context of the calling thread, which saves to the same place.
  func newThreadContext() -> ManagedObjectContext {
    if let root = rootSavingContext { return ManagedObjectContext(.confinement, parent: root, name: "thread") }
    return ManagedObjectContext(.confinement, coordinator: coordinator, name: "thread")
  }

  /// Merges everything that reaches the store into a context, for as long as the context lives.
  private final class Observation: @unchecked Sendable {
    // Sendable: constant; NotificationCenter accepts the token on any thread.
    private let token: any NSObjectProtocol

    init(_ context: ContextQueue) {
      let held = WeakContextQueue(context)
      token = NotificationCenter.default.addObserver(
        forName: ManagedObjectContext.didSaveObjectsNotification, object: nil, queue: nil
      ) { note in
        guard let context = held.queue, let save = ContextSave(note), !save.isMade(by: context),
          save.coordinator === context.persistentStoreCoordinator, save.isToStore
        else { return }
        context.perform { context in context.mergeChanges(fromContextDidSave: save) }
      }
    }

    deinit { NotificationCenter.default.removeObserver(token) }
  }
}

extension MagicalStack: CustomStringConvertible {
  /// The stack's contexts and stores, in a line.
  public var description: String {
    let stores = coordinator.persistentStores.map { $0.url?.path ?? "in memory" }.joined(separator: ", ")
    return "\(rootSavingContext == nil ? "without nesting" : "with a saving context"), \(stores)"
  }
}

extension MagicalStack {
  /// A stack over an SQLite file of this version of the model, which is created if it doesn't exist.
  ///
  /// A file of another version is refused: ``autoMigrating(model:at:nesting:options:)`` migrates it.
  /// Source: `setupCoreDataStackWithStoreAtURL:` of MagicalRecord.
  /// - Throws: `MigrationError` for a file of another version; errors of opening the store.
  public static func sqlite(
    model: ManagedObjectModel, at url: URL, nesting: Nesting = .savingContext, options: SQLiteStoreOptions = .init()
  ) throws -> MagicalStack {
    var store = PersistentStoreDescription.sqlite(at: url, options: options)
    store.shouldMigrateStoreAutomatically = false
    return try MagicalStack(model: model, store: store, nesting: nesting)
  }

  /// A stack over an SQLite file, which is migrated when it was made with another version of the model.
  ///
  /// The migration is inferred, and runs in one transaction.
  /// Source: `setupCoreDataStackWithAutoMigratingSqliteStoreAtURL:` of MagicalRecord.
  /// - Throws: `MigrationError` with every obstacle when the migration can't be inferred; errors of opening the store.
  public static func autoMigrating(
    model: ManagedObjectModel, at url: URL, nesting: Nesting = .savingContext, options: SQLiteStoreOptions = .init()
  ) throws -> MagicalStack {
    var store = PersistentStoreDescription.sqlite(at: url, options: options)
    store.shouldMigrateStoreAutomatically = true
    store.shouldInferMappingModelAutomatically = true
    return try MagicalStack(model: model, store: store, nesting: nesting)
  }

  /// The file of a named store: the name itself if it is an absolute path; otherwise a file in the folder of the program's name
  /// under the user's data folder (`$XDG_DATA_HOME`, or `~/.local/share`). A name without an extension
  /// gets `.sqlite`.
  ///
  /// Source: `MR_urlForStoreName:` of MagicalRecord, which looks in the application support folder.
  public static func url(forStoreNamed name: String) -> URL {
    let named = (name as NSString).pathExtension.isEmpty ? name + ".sqlite" : name
    if named.hasPrefix("/") { return URL(fileURLWithPath: named) }
    let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
    let folder = folders.first ?? FileManager.default.homeDirectoryForCurrentUser
    return folder.appendingPathComponent(programName).appendingPathComponent(named)
  }

  /// The default name of a store: the program's. Source: `defaultStoreName` of MagicalRecord.
  public static var defaultStoreName: String { programName + ".sqlite" }

  private static var programName: String {
    let name = ProcessInfo.processInfo.processName
    return name.isEmpty ? "MagicalRecord" : name
  }
}
