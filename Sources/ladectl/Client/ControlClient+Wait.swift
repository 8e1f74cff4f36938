import ControlAPI
import Glibc

extension ControlClient {
  /// The daemon's status as soon as it answers.
  ///
  /// It retries whenever something happens at the socket's place, and after a pause that grows from 50 ms to 1 s: a daemon that
  /// isn't ready yet, or that reuses an existing socket, causes no such event.
  func statusWhenUp() async throws -> Status {
    var pause = Duration.milliseconds(50)
    while true {
      let watch = SocketWatch(for: socketPath)
      do {
        return try await status()
      } catch let error as ControlClientError where error.mayPass {
        await firstChange(watch?.changes, orAfter: pause)
        withExtendedLifetime(watch) {}
        try Task.checkCancellation()
        pause = min(pause * 2, .seconds(1))
      }
    }
  }

  private func firstChange(_ changes: AsyncStream<Void>?, orAfter pause: Duration) async {
    await withTaskGroup(of: Void.self) { group in
      if let changes {
        group.addTask { for await _ in changes { return } }
      }
      group.addTask {
        // Cancelled if the watch was quicker, which isn't a failure.
        try? await Task.sleep(for: pause)
      }
      await group.next()
      group.cancelAll()
    }
  }
}

extension ControlClientError {
  /// Whether waiting may help.
  var mayPass: Bool {
    switch self {
    case .noSocket, .notListening, .hungUp: true
    case .refused(let problem): [429, 503].contains(problem.status)
    case .cantConnect(_, let code): code == EAGAIN
    case .notReached(let error, _): error.mayPass
    case .noPermission, .notASocket, .versionMismatch, .timedOut: false
    }
  }
}

/// Runs an operation with a timeout.
///
/// - Parameters:
///   - seconds: nil for no limit.
///   - waitingFor: the state at the timeout, such as `2 of 3 jobs hadn't ended`.
///   - hint: what to do then.
/// - Throws: ``ControlClientError/timedOut(seconds:waitingFor:hint:)``, or what the operation throws.
func withDeadline<Value: Sendable>(
  seconds: Double?, waitingFor what: @escaping @Sendable () async -> String,
  hint: String = "Nothing was stopped; give it more time, or look with 'ladectl list'.",
  _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  guard let seconds else { return try await operation() }
  return try await withThrowingTaskGroup(of: Value?.self) { group in
    group.addTask { try await operation() }
    group.addTask {
      try await Task.sleep(for: .seconds(seconds))
      return nil
    }
    defer { group.cancelAll() }
    guard let value = try await group.next() ?? nil else {
      throw ControlClientError.timedOut(seconds: seconds, waitingFor: await what(), hint: hint)
    }
    return value
  }
}
