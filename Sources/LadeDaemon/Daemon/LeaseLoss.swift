import Synchronization

/// Whether the daemon has lost its lease on a queue that it shares. Safe from any thread.
final class LeaseLoss: Sendable {
  private struct State {
    var isLost = false
    var handler: (@Sendable () -> Void)?
  }
  private let state = Mutex(State())

  var isLost: Bool { state.withLock(\.isLost) }

  /// It is lost.
  func note() {
    let handler = state.withLock { state in
      defer { state = State(isLost: true, handler: nil) }
      return state.handler
    }
    handler?()
  }

  /// Calls `handler` once it is lost; at once if it is.
  func whenLost(_ handler: @escaping @Sendable () -> Void) {
    let isLost = state.withLock { state in
      if !state.isLost { state.handler = handler }
      return state.isLost
    }
    if isLost { handler() }
  }
}
