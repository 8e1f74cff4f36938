import Synchronization

/// Ends what a closure reads and evaluates, from another thread or after a time: a query whose client has gone, a predicate
/// that never comes to an end.
///
/// ```swift
/// let interruption = Interruption()
/// let count = try interruption.limit { try context.count(for: request) }  // throws Interrupted after interrupt(…)
/// ```
///
/// It concerns the thread that runs the closure. Whatever may take long there asks ``isRequested``: a store while it runs a
/// statement, a predicate for every object and before each long text. Once it is requested, predicates are false and lists are
/// empty, so that evaluation collapses; ``limit(_:)`` then throws and nothing that was computed that way gets out.
package final class Interruption: Sendable {
  /// Why work was ended.
  package enum Cause: Sendable, Hashable {
    /// The result isn't wanted any more.
    case cancelled
    /// It has taken its time.
    case timedOut
  }

  private struct State {
    var cause: Cause?
    /// Ends the statements that run, which may not ask for a long time.
    var statements: [Int: @Sendable () -> Void] = [:]
    var last = 0
  }

  @TaskLocal private static var current: Interruption?

  private let state = Mutex(State())
  private let requested = Atomic<Bool>(false)
  private let asks: @Sendable () -> Cause?

  /// - Parameter asks: called often, on the thread that works: whether the work is to end.
  package init(asks: @escaping @Sendable () -> Cause? = { nil }) { self.asks = asks }

  /// Ends the work. Safe from any thread; the first cause counts.
  package func interrupt(_ cause: Cause) {
    state.withLock { state in
      state.cause = state.cause ?? cause
      requested.store(true, ordering: .releasing)
      // Under the lock: a statement that has ended isn't interrupted, nor one that comes after it on the connection.
      for statement in state.statements.values { statement() }
    }
  }

  /// Runs `body`, which ends early when it is asked to.
  /// - Throws: ``Interrupted``, or what `body` throws.
  package func limit<T>(_ body: () throws -> T) throws -> T {
    try Self.$current.withValue(self) {
      try check()
      let result = Result { try body() }
      try check()
      return try result.get()
    }
  }

  /// - Throws: ``Interrupted`` when the work is to end.
  private func check() throws(Interrupted) {
    if isRequested { throw Interrupted(cause: state.withLock { $0.cause } ?? .cancelled) }
  }

  private var isRequested: Bool {
    if requested.load(ordering: .acquiring) { return true }
    guard let cause = asks() else { return false }
    interrupt(cause)
    return true
  }

  // MARK: On the thread that works

  /// Whether what the calling thread does is to end.
  package static var isRequested: Bool { current?.isRequested ?? false }

  /// - Throws: ``Interrupted`` when what the calling thread does is to end.
  package static func check() throws(Interrupted) { try current?.check() }

  /// Runs a read of a store.
  /// - Parameter end: makes the read fail; called from any thread while it runs.
  package static func reading<T>(endedBy end: @escaping @Sendable () -> Void, _ body: () throws -> T) throws -> T {
    guard let current else { return try body() }
    try current.check()
    let number = current.state.withLock { state in
      state.last += 1
      state.statements[state.last] = end
      return state.last
    }
    defer { current.state.withLock { _ = $0.statements.removeValue(forKey: number) } }
    return try body()
  }
}

/// Work was ended by an ``Interruption``.
package struct Interrupted: Error, Sendable, Hashable {
  /// Why.
  package let cause: Interruption.Cause

  /// The error.
  package init(cause: Interruption.Cause) { self.cause = cause }
}
