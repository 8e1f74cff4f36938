public import Foundation
public import ManagedObjects
import Synchronization

/// MagicalRecord's conveniences: one stack for a program, and finders, saves and imports that use it.
///
/// ```swift
/// MagicalRecord.setUp(try MagicalStack(model: model, store: .sqlite(at: url)))
/// try await MagicalRecord.save { context in
///   let person = try Person.createEntity(in: context)
///   person.name = "Ada"
/// }
/// ```
///
/// Source: MagicalRecord. Every method also takes a context; only the default needs the stack.
public enum MagicalRecord {
  private struct State: Sendable {
    var stack: MagicalStack?
    var loggingLevel = LoggingLevel.error
    var defaultBatchSize = 0
    var errorHandler: (@Sendable (any Error) -> Void)?
    var logHandler: @Sendable (LoggingLevel, String) -> Void = { level, message in
      FileHandle.standardError.write(Data("\(level): \(message)\n".utf8))
    }
  }

  private static let state = Mutex(State())

  /// How much is logged. Each level includes those before it.
  public enum LoggingLevel: Int, Sendable, Comparable, CaseIterable {
    /// Nothing.
    case off
    /// Failed saves and other errors that the error handler receives.
    case error
    /// Unusual events, such as a save without changes.
    case warn
    /// Stacks that are set up and cleaned up.
    case info
    /// Every save and every context.
    case verbose

    /// By how much is said.
    public static func < (a: LoggingLevel, b: LoggingLevel) -> Bool { a.rawValue < b.rawValue }
  }

  /// The default stack; nil before ``setUp(_:)``.
  public static var stack: MagicalStack? { state.withLock { $0.stack } }

  /// Sets the program's stack. Safe from any thread.
  public static func setUp(_ stack: MagicalStack) {
    state.withLock { $0.stack = stack }
    log(.info, "a stack was set up: \(stack)")
  }

  /// Releases the program's stack and the calling thread's context.
  public static func cleanUp() {
    resetContextForCurrentThread()
    state.withLock { $0.stack = nil }
    log(.info, "the stack was cleaned up")
  }

  /// How much is logged; ``LoggingLevel/error`` by default.
  public static var loggingLevel: LoggingLevel {
    get { state.withLock { $0.loggingLevel } }
    set { state.withLock { $0.loggingLevel = newValue } }
  }

  /// The batch size of requests: see ``MagicalEntity/defaultBatchSize``.
  static var defaultBatchSize: Int {
    get { state.withLock { $0.defaultBatchSize } }
    set { state.withLock { $0.defaultBatchSize = newValue } }
  }

  /// Sets the log handler, which is called on any thread. By default messages go to standard error.
  public static func setLogHandler(_ handler: @escaping @Sendable (LoggingLevel, String) -> Void) {
    state.withLock { $0.logHandler = handler }
  }

  /// Sets a handler for errors of saves, in addition to their callers. It is called on the failed context's queue.
  public static func setErrorHandler(_ handler: (@Sendable (any Error) -> Void)?) {
    state.withLock { $0.errorHandler = handler }
  }

  /// Logs a message of a level.
  package static func log(_ level: LoggingLevel, _ message: @autoclosure () -> String) {
    let handler = state.withLock { $0.loggingLevel >= level ? $0.logHandler : nil }
    handler?(level, message())
  }

  /// Logs an error, and passes it to the error handler.
  static func handle(_ error: any Error, _ what: String, isLogged: Bool = true) {
    if isLogged { log(.error, "\(what): \(error)") }
    state.withLock { $0.errorHandler }?(error)
  }

  static func currentStack() throws -> MagicalStack {
    guard let stack else { throw MagicalRecordError.noStack }
    return stack
  }
}

/// Why a method without a context, or with a sort term, failed.
public enum MagicalRecordError: Error, Sendable, Hashable, CustomStringConvertible {
  /// No context was given, and the program has no stack.
  case noStack
  /// A malformed sort term. A valid one is "name,age:NO".
  case sortTerm(String)

  /// What is missing, and what to do.
  public var description: String {
    switch self {
    case .noStack: return "there is no stack: call MagicalRecord.setUp(_:) first, or give a context"
    case .sortTerm(let term): return "\"\(term)\" isn't a sort term: write attributes as \"name,age:NO\""
    }
  }
}

extension MagicalRecord {
  /// The context of the main queue of the program's stack. Source: `MR_defaultContext`.
  /// - Throws: ``MagicalRecordError/noStack``.
  public static func defaultContext() throws -> ContextQueue { try currentStack().defaultContext }

  /// The context that writes for the others in the program's stack; nil without nesting. Source: `MR_rootSavingContext`.
  /// - Throws: ``MagicalRecordError/noStack``.
  public static func rootSavingContext() throws -> ContextQueue? { try currentStack().rootSavingContext }

  /// A new context of a queue of its own, which saves to where the default context saves to. Source: `MR_context`.
  /// - Throws: ``MagicalRecordError/noStack``.
  public static func newPrivateContext(name: String? = nil) throws -> ContextQueue {
    try currentStack().newPrivateContext(name: name)
  }

  /// Resets the default context on the main queue, asynchronously: its unsaved changes are lost.
  /// Source: `MR_resetDefaultContext`.
  /// - Throws: ``MagicalRecordError/noStack``.
  public static func resetDefaultContext() throws {
    try defaultContext().perform { context in context.reset() }
  }
}

extension ManagedObjectContext {
  /// Marks objects for deletion by the next save. Source: `MR_deleteObjects:`.
  public func deleteObjects(_ objects: some Sequence<ManagedObject>) {
    for object in objects { delete(object) }
  }

  /// The context's name and those above it, for messages. Source: `MR_parentChain`.
  public var parentChain: String { queue.parentChain }
}

extension ContextQueue {
  /// The context's name and those above it, for messages. Source: `MR_parentChain`.
  public var parentChain: String {
    var names: [String] = []
    var next: ContextQueue? = self
    while let context = next {
      names.append(context.name ?? "without a name")
      next = context.parent
    }
    return names.joined(separator: " → ")
  }
}

extension MagicalRecord {
  private static let threadKey = "lade.MagicalRecord.context"

  /// The context of the calling thread: the default context on the main queue; elsewhere a context of the thread's own, made on
  /// first use and kept with the thread.
  ///
  /// Threads of a pool outlive their work, so an operation must reset its thread's context at its start and end, as
  /// ``MagicalOperation`` does. Not for asynchronous functions, which change threads.
  ///
  /// The compiler keeps objects in a block that is given its context. It doesn't know this one, nor the objects that finders
  /// without a context return: these are kept on their thread by the check at run time only.
  /// Source: `MR_contextForCurrentThread`.
  /// - Throws: ``MagicalRecordError/noStack``.
  public static func contextForCurrentThread() throws -> ManagedObjectContext {
    let stack = try currentStack()
    if MainQueue.isCurrent { return stack.defaultContext.current }
    let storage = Thread.current.threadDictionary
    if let context = storage[threadKey] as? ManagedObjectContext,
      context.persistentStoreCoordinator === stack.coordinator
    {
      return context
    }
    let context = stack.newThreadContext()
    storage[threadKey] = context
    log(.verbose, "a context was made for thread \(Thread.current.name ?? "")")
    return context
  }

  /// Drops the calling thread's context with its unsaved changes. Does nothing on the main queue.
  /// Source: `MR_resetContextForCurrentThread`.
  public static func resetContextForCurrentThread() {
    guard !MainQueue.isCurrent else { return }
    Thread.current.threadDictionary.removeObject(forKey: threadKey)
  }
}

extension MagicalRecord {
  /// Sets up a stack in memory, gone when it is cleaned up.
  /// Source: `setupCoreDataStackWithInMemoryStore`.
  @discardableResult
  public static func setupStackWithInMemoryStore(
    model: ManagedObjectModel, nesting: MagicalStack.Nesting = .savingContext
  ) throws -> MagicalStack {
    try set(MagicalStack.inMemory(model: model, nesting: nesting))
  }

  /// Sets up a stack over an SQLite file of this version of the model. See ``MagicalStack/sqlite(model:at:nesting:options:)``.
  /// Source: `setupCoreDataStackWithStoreAtURL:`.
  @discardableResult
  public static func setupSQLiteStack(
    model: ManagedObjectModel, storeAt url: URL, nesting: MagicalStack.Nesting = .savingContext
  ) throws -> MagicalStack {
    try set(MagicalStack.sqlite(model: model, at: url, nesting: nesting))
  }

  /// Sets up a stack over the store of a name. See ``MagicalStack/url(forStoreNamed:)``; its folder is made if missing.
  /// Source: `setupCoreDataStackWithStoreNamed:`.
  @discardableResult
  public static func setupSQLiteStack(
    model: ManagedObjectModel, storeNamed name: String = MagicalStack.defaultStoreName,
    nesting: MagicalStack.Nesting = .savingContext
  ) throws -> MagicalStack {
    try setupSQLiteStack(model: model, storeAt: preparedURL(name), nesting: nesting)
  }

  /// Sets up a stack over an SQLite file that is migrated if need be. See
  /// ``MagicalStack/autoMigrating(model:at:nesting:options:)``.
  /// Source: `setupCoreDataStackWithAutoMigratingSqliteStoreAtURL:`, `setupAutoMigratingStackWithSqliteStoreAtURL:`.
  @discardableResult
  public static func setupAutoMigratingStack(
    model: ManagedObjectModel, storeAt url: URL, nesting: MagicalStack.Nesting = .savingContext
  ) throws -> MagicalStack {
    try set(MagicalStack.autoMigrating(model: model, at: url, nesting: nesting))
  }

  /// Sets up a stack over the store of a name, which is migrated if need be. See ``MagicalStack/url(forStoreNamed:)``; its
  /// folder is made if missing.
  /// Source: `setupAutoMigratingCoreDataStack`, `setupCoreDataStackWithAutoMigratingSqliteStoreNamed:`.
  @discardableResult
  public static func setupAutoMigratingStack(
    model: ManagedObjectModel, storeNamed name: String = MagicalStack.defaultStoreName,
    nesting: MagicalStack.Nesting = .savingContext
  ) throws -> MagicalStack {
    try setupAutoMigratingStack(model: model, storeAt: preparedURL(name), nesting: nesting)
  }

  private static func set(_ stack: MagicalStack) -> MagicalStack {
    setUp(stack)
    return stack
  }

  private static func preparedURL(_ name: String) throws -> URL {
    let url = MagicalStack.url(forStoreNamed: name)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    return url
  }
}

extension MagicalRecord {
  /// Runs a block in a new context on a queue of its own, saves its changes up to the store, and returns without waiting.
  ///
  /// A block that throws saves nothing. The default context merges the save.
  /// Source: `saveWithBlock:completion:`.
  /// - Parameter completion: called at the end on the main queue. A save without changes isn't a failure.
  public static func save(
    _ block: @escaping @Sendable (ManagedObjectContext) throws -> Void,
    completion: ManagedObjectContext.SaveCompletion? = nil
  ) {
    let queue: ContextQueue
    do {
      queue = try currentStack().newPrivateContext(name: "save")
    } catch {
      handle(error, "nothing was saved")
      return ManagedObjectContext.complete(.failed(error), completion)
    }
    queue.performAndSave(block, completion: completion)
  }

  /// Runs a block in a new context and saves its changes up to the store, without blocking a thread.
  /// - Returns: whether there was anything to save.
  /// - Throws: what the block throws, or the save's error.
  @discardableResult
  public static func save(_ block: @escaping @Sendable (ManagedObjectContext) throws -> Void) async throws -> Bool {
    let outcome = await withCheckedContinuation { continuation in
      save(block) { continuation.resume(returning: $0) }
    }
    if let error = outcome.error { throw error }
    return outcome.didSave
  }

  /// Runs a block in a new context, saves its changes up to the store, and waits for it. On the main queue it blocks that queue
  /// until the store has written.
  /// Source: `saveWithBlockAndWait:`.
  /// - Returns: whether there was anything to save.
  /// - Throws: what the block throws, or the save's error.
  @discardableResult
  public static func saveAndWait(_ block: @Sendable (ManagedObjectContext) throws -> Void) throws -> Bool {
    try currentStack().newPrivateContext(name: "save").performAndSaveAndWait(block)
  }

  /// Runs a block with the calling thread's context (see ``contextForCurrentThread()``), and saves it up to the store,
  /// waiting for it. Earlier unsaved changes of the context are saved too; after an error all changes stay there.
  /// Source: `saveUsingCurrentThreadContextWithBlockAndWait:`.
  /// - Returns: whether there was anything to save.
  /// - Throws: what the block throws, or the save's error.
  @discardableResult
  public static func saveUsingCurrentThreadContextAndWait(
    _ block: (ManagedObjectContext) throws -> Void
  ) throws -> Bool {
    let context = try contextForCurrentThread()
    do {
      try block(context)
    } catch {
      handle(error, "the block of a save failed")
      throw error
    }
    let outcome = context.saveToPersistentStoreAndWait()
    if let error = outcome.error { throw error }
    return outcome.didSave
  }
}

extension MagicalRecord {
  /// Runs a block with the calling thread's context (see ``contextForCurrentThread()``), and saves it up to the store without
  /// waiting for the store. Earlier unsaved changes of the context are saved too; after an error the changes are in the context
  /// that couldn't save them.
  ///
  /// The block runs at once, also on the main queue. A thread's context is saved into the one above it before this returns,
  /// because only its thread can do that; without one above it, into the store.
  /// Source: `saveUsingCurrentThreadContextWithBlock:completion:`.
  /// - Parameter completion: called at the end on the main queue. A save without changes isn't a failure.
  public static func saveUsingCurrentThreadContext(
    _ block: (ManagedObjectContext) throws -> Void, completion: ManagedObjectContext.SaveCompletion? = nil
  ) {
    do {
      let context = try contextForCurrentThread()
      try block(context)
      context.saveFromOwnThread(completion: completion)
    } catch {
      handle(error, "the block of a save failed")
      ManagedObjectContext.complete(.failed(error), completion)
    }
  }
}

/// An operation that works in its thread's context, which is new at its start and dropped at its end.
///
/// Subclasses override ``work(in:)`` and restate `@unchecked Sendable`.
open class MagicalOperation: Operation, @unchecked Sendable {
  // Sendable: it has no state of its own.

  /// The operation's work. Called once, on the operation's thread; unsaved changes are dropped when it returns. Errors go
  /// to the handler of ``MagicalRecord/setErrorHandler(_:)``.
  open func work(in context: ManagedObjectContext) throws {}

  /// Resets the thread's context, does the work, and resets it again.
  public final override func main() {
    guard !isCancelled else { return }
    MagicalRecord.resetContextForCurrentThread()
    defer { MagicalRecord.resetContextForCurrentThread() }
    do {
      try work(in: MagicalRecord.contextForCurrentThread())
    } catch {
      MagicalRecord.handle(error, "an operation failed")
    }
  }
}
