public import Foundation

extension MagicalRecord {
  private static let threadKey = "lade.MagicalRecord.context"

  /// The context of the calling thread: the default context on the main queue; elsewhere one that belongs to the thread,
  /// made the first time and kept with it.
  ///
  /// Threads of a pool outlive the work they do: an operation resets its thread's context at its start and at its end,
  /// which ``MagicalOperation`` does by itself. Not for asynchronous functions, which change threads.
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

  /// Drops the calling thread's context, with what wasn't saved in it. On the main queue nothing happens.
  /// Source: `MR_resetContextForCurrentThread`.
  public static func resetContextForCurrentThread() {
    guard !MainQueue.isCurrent else { return }
    Thread.current.threadDictionary.removeObject(forKey: threadKey)
  }
}

/// An operation that works in its thread's context: fresh at its start, gone at its end.
///
/// Subclasses override ``work(in:)`` and state `@unchecked Sendable` anew.
open class MagicalOperation: Operation, @unchecked Sendable {
  // Sendable: it has no state of its own.

  /// The operation's work. Called once, on the operation's thread; whatever isn't saved when it returns is dropped. An
  /// error is told to ``MagicalRecord/setErrorHandler(_:)``.
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
