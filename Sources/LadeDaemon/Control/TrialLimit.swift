import Dispatch
import ServiceLifecycle
import Synchronization

/// Ends a trial early: when its time is over, when its client has gone, or when the daemon stops.
final class TrialLimit: Sendable {
  private let hasGone = Atomic<Bool>(false)
  private let deadline: ContinuousClock.Instant

  init(_ time: Duration) { deadline = .now + time }

  /// Whether the trial is to end. Asked for often, also in the middle of a record.
  var isOver: Bool { isUnwanted || ContinuousClock.now > deadline }

  /// Whether its client has gone, or the daemon stops.
  var isUnwanted: Bool { hasGone.load(ordering: .relaxed) }

  func leave() { hasGone.store(true, ordering: .relaxed) }
}

extension DispatchQueue {
  /// Runs a trial on this queue. Its time begins with its turn; if its client has gone by then, it isn't begun.
  /// - Throws: `CancellationError` if the client has gone or the daemon stops, or what `body` throws.
  func trial<Value: Sendable>(
    within time: Duration, _ body: @escaping @Sendable (TrialLimit) throws -> Value
  ) async throws -> Value {
    let waiting = TrialClient()
    return try await withTaskCancellationOrGracefulShutdownHandler {
      try await result {
        let limit = TrialLimit(time)
        guard waiting.waits(for: limit) else { throw CancellationError() }
        let value = Result { try body(limit) }
        // What it says of a trial that was broken off is wrong.
        if limit.isUnwanted { throw CancellationError() }
        return try value.get()
      }
    } onCancelOrGracefulShutdown: {
      waiting.leave()
    }
  }
}

/// Who waits for a trial, perhaps before it has begun.
private final class TrialClient: Sendable {
  private struct State {
    var hasGone = false
    var limit: TrialLimit?
  }

  private let state = Mutex(State())

  /// - Returns: whether anybody still waits.
  func waits(for limit: TrialLimit) -> Bool {
    state.withLock { state in
      state.limit = limit
      return !state.hasGone
    }
  }

  func leave() {
    let limit = state.withLock { state in
      state.hasGone = true
      return state.limit
    }
    limit?.leave()
  }
}
