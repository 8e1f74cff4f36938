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
