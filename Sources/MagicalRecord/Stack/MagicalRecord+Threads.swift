import Foundation
public import ManagedObjects

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
