import Synchronization

/// A value that comes once, from any thread, and those who wait for it. What comes after the first is left out.
package final class Once<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var waiting: [Int: CheckedContinuation<Value, any Error>] = [:]
    var cancelled: Set<Int> = []
    var tickets = 0
  }

  private let state = Mutex(State())

  package init() {}

  /// The value, if it has come.
  package var current: Value? { state.withLock { $0.value } }

  package func set(_ value: Value) {
    let waiting = state.withLock { state -> [CheckedContinuation<Value, any Error>] in
      guard state.value == nil else { return [] }
      state.value = value
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for continuation in waiting { continuation.resume(returning: value) }
  }

  /// Waits for it.
  /// - Throws: `CancellationError`: so ends a test whose time limit is over.
  package func value() async throws -> Value {
    let ticket = state.withLock { state in
      state.tickets += 1
      return state.tickets
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let now = state.withLock { state -> Result<Value, any Error>? in
          if let value = state.value { return .success(value) }
          if state.cancelled.remove(ticket) != nil { return .failure(CancellationError()) }
          state.waiting[ticket] = continuation
          return nil
        }
        if let now { continuation.resume(with: now) }
      }
    } onCancel: {
      let continuation = state.withLock { state in
        if let continuation = state.waiting.removeValue(forKey: ticket) { return Optional(continuation) }
        state.cancelled.insert(ticket)
        return nil
      }
      continuation?.resume(throwing: CancellationError())
    }
  }
}
