import Synchronization

/// Whose save goes to the store: one chain of saves at a time, in the order of their coming, without blocking a thread.
///
/// A context pushes into the one above by waiting for its queue. If that one isn't writing meanwhile, it doesn't wait for
/// the disk. Safe from any thread.
final class StoreTurn: Sendable {
  private struct State {
    var isTaken = false
    var waiting: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())

  /// Runs `body` when it is its turn, which lasts until ``leave()``.
  func enter(_ body: @escaping @Sendable () -> Void) {
    let isFree = state.withLock { state in
      if state.isTaken {
        state.waiting.append(body)
        return false
      }
      state.isTaken = true
      return true
    }
    if isFree { body() }
  }

  /// Gives the turn to who has waited longest.
  func leave() {
    let next = state.withLock { state -> (@Sendable () -> Void)? in
      guard !state.waiting.isEmpty else {
        state.isTaken = false
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?()
  }
}
