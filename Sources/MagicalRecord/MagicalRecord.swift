import Foundation
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
  public static func defaultContext() throws -> ManagedObjectContext { try currentStack().defaultContext }

  /// The context that writes for the others in the program's stack; nil without nesting. Source: `MR_rootSavingContext`.
  /// - Throws: ``MagicalRecordError/noStack``.
  public static func rootSavingContext() throws -> ManagedObjectContext? { try currentStack().rootSavingContext }

  /// A new context of a queue of its own, which saves to where the default context saves to. Source: `MR_context`.
  /// - Throws: ``MagicalRecordError/noStack``.
  public static func newPrivateContext(name: String? = nil) throws -> ManagedObjectContext {
    try currentStack().newPrivateContext(name: name)
  }

  /// Resets the default context on the main queue, asynchronously: its unsaved changes are lost.
  /// Source: `MR_resetDefaultContext`.
  /// - Throws: ``MagicalRecordError/noStack``.
  public static func resetDefaultContext() throws {
    let context = try defaultContext()
    context.perform { context.reset() }
  }
}

extension ManagedObjectContext {
  /// Marks objects for deletion by the next save. Source: `MR_deleteObjects:`.
  public func deleteObjects(_ objects: some Sequence<ManagedObject>) {
    for object in objects { delete(object) }
  }

  /// The context's name and those above it, for messages. May be read anywhere. Source: `MR_parentChain`.
  public var parentChain: String {
    var names: [String] = []
    var next: ManagedObjectContext? = self
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
  /// Source: `MR_contextForCurrentThread`.
  /// - Throws: ``MagicalRecordError/noStack``.
  public static func contextForCurrentThread() throws -> ManagedObjectContext {
    let stack = try currentStack()
    if MainQueue.isCurrent { return stack.defaultContext }
    let storage = Thread.current.threadDictionary
    if let context = storage[threadKey] as? ManagedObjectContext,
      context.persistentStoreCoordinator === stack.coordinator
    {
      return context
    }
    let context = stack.newContext(.confinement, name: "thread")
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
