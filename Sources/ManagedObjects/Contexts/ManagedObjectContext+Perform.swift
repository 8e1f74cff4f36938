import Dispatch

extension ManagedObjectContext {
  /// Runs `block` on the context's queue, some time after returning. For a confinement context, at once.
  ///
  /// May be called from anywhere. What the block changed is announced when it ends.
  /// Source: `perform(_:)` of Core Data.
  public func perform(_ block: @escaping @Sendable () -> Void) {
    guard let queue else { return performAndWait(block) }
    queue.async { self.run(block) }
  }

  /// Runs `block` on the context's queue and waits for its end.
  ///
  /// May be called from anywhere, also from within the context's own work and within another context's: nested calls
  /// run in order. What it returns must be `Sendable`, so that no object leaves.
  /// Source: `performAndWait(_:)` of Core Data.
  public func performAndWait<T: Sendable>(_ block: @Sendable () throws -> T) rethrows -> T {
    if home.isCurrent { return try run(block) }
    guard let queue else {
      home.check()
      return try block()
    }
    return try MainQueue.holding { try queue.sync { try run(block) } }
  }

  /// Runs `block` on the context's queue and awaits its end, without blocking a thread meanwhile.
  /// Source: the asynchronous `perform(schedule:_:)` of Core Data.
  public func perform<T: Sendable>(_ block: @escaping @Sendable () throws -> T) async throws -> T {
    guard let queue else { return try performAndWait(block) }
    return try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try self.run(block) }) }
    }
  }

  func run<T>(_ block: () throws -> T) rethrows -> T {
    try home.own {
      mergeWaitingSaves()
      takePromotedIDs()
      defer { processPendingChanges() }
      return try block()
    }
  }
}
