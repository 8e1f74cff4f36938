import ManagedObjects
import Synchronization

/// A FIFO lock for each context that saves to a store: one chain of saves at a time, in the order of arrival, without blocking
/// a thread.
///
/// A context pushes its changes into its parent by waiting for the parent's queue. While the parent isn't writing, the
/// child doesn't wait for the disk. Safe from any thread.
enum SaveOrder {
  /// The closures that wait, by the context whose lock is taken. Chains keep their contexts alive, so that no key is reused.
  private static let waiting = Mutex<[ObjectIdentifier: [@Sendable () -> Void]]>([:])

  /// Runs `body` once it holds the lock of `root`, until ``leave(_:)``.
  static func enter(_ root: ManagedObjectContext, _ body: @escaping @Sendable () -> Void) {
    let isFree = waiting.withLock { waiting in
      let isFree = waiting[ObjectIdentifier(root)] == nil
      if isFree { waiting[ObjectIdentifier(root)] = [] } else { waiting[ObjectIdentifier(root)]?.append(body) }
      return isFree
    }
    if isFree { body() }
  }

  /// Hands the lock of `root` to the closure that has waited longest.
  static func leave(_ root: ManagedObjectContext) {
    let next = waiting.withLock { waiting -> (@Sendable () -> Void)? in
      guard waiting[ObjectIdentifier(root)]?.isEmpty == false else {
        waiting[ObjectIdentifier(root)] = nil
        return nil
      }
      return waiting[ObjectIdentifier(root)]?.removeFirst()
    }
    next?()
  }
}
