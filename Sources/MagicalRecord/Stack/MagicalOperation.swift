public import Foundation
public import ManagedObjects

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
