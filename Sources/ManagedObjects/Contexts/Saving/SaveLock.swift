import Synchronization

/// A lock that admits one chain of saves to the store at a time, in the order of arrival, without blocking a thread.
///
/// A context pushes its changes into the one above by waiting for its queue. While the chain has the lock, no other save
/// makes the context above write, so pushing doesn't wait for the disk. Safe from any thread.
final class SaveLock: Sendable {
  private struct State {
    var isLocked = false
    var waiting: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())

  /// Runs `body` once the lock is free, and holds it until ``unlock()``.
  func lock(_ body: @escaping @Sendable () -> Void) {
    let isFree = state.withLock { state in
      if state.isLocked {
        state.waiting.append(body)
        return false
      }
      state.isLocked = true
      return true
    }
    if isFree { body() }
  }

  /// Passes the lock to the first in the queue.
  func unlock() {
    let next = state.withLock { state -> (@Sendable () -> Void)? in
      guard !state.waiting.isEmpty else {
        state.isLocked = false
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?()
  }
}
