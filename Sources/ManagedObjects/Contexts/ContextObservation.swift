public import Foundation

/// Delivers a context's notifications to a handler until it is cancelled or released. Safe from any thread.
public final class ContextObservation: @unchecked Sendable {
  // Sendable: the token is constant, and NotificationCenter takes it from any thread, any number of times.
  private let token: any NSObjectProtocol

  init(
    _ name: Notification.Name, of context: ManagedObjectContext, _ handler: @escaping @Sendable (Notification) -> Void
  ) {
    token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil, using: handler)
  }

  deinit { cancel() }

  /// Stops calling the handler.
  public func cancel() { NotificationCenter.default.removeObserver(token) }
}

/// A closure of one queue, which the notification centre requires to be `Sendable`.
private final class QueueBound<Argument>: @unchecked Sendable {
  // Sendable: a context posts on its own queue only, which the closure comes from.
  let call: (Argument) -> Void
  init(_ call: @escaping (Argument) -> Void) { self.call = call }
}

extension ManagedObjectContext {
  /// Calls `handler` on this context's queue with the changes of each did-change notification, for as long as the result is
  /// kept.
  public func observeChanges(_ handler: @escaping (ContextChanges) -> Void) -> ContextObservation {
    confinement.check()
    let handler = QueueBound(handler)
    return ContextObservation(AnnouncedName.didChange.name, of: self) { note in
      if let changes = ContextChanges(note) { handler.call(changes) }
    }
  }

  /// Calls `handler` on this context's queue with each of its saves, for as long as the result is kept.
  public func observeSaves(_ handler: @escaping @Sendable (ContextSave) -> Void) -> ContextObservation {
    queue.observeSaves(handler)
  }

  /// The saves that this context makes from now on. See ``ContextQueue/saves``.
  public var saves: AsyncStream<ContextSave> { queue.saves }
}

extension ContextQueue {
  /// Calls `handler` on the context's queue with each of its notifications of a name, for as long as the result is kept.
  ///
  /// Code of the context's queue can also name the context as the `object` of an observer.
  public func observe(
    _ name: Notification.Name, _ handler: @escaping @Sendable (Notification) -> Void
  ) -> ContextObservation {
    ContextObservation(name, of: uncheckedContext, handler)
  }

  /// Calls `handler` on this context's queue with each of its saves, for as long as the result is kept.
  public func observeSaves(_ handler: @escaping @Sendable (ContextSave) -> Void) -> ContextObservation {
    observe(AnnouncedName.didSave.name) { note in
      if let save = ContextSave(note) { handler(save) }
    }
  }

  /// The saves that this context makes from now on, to be read anywhere. The sequence ends with the task that reads it.
  ///
  /// Saves wait for their reader, so a slow reader keeps their rows in memory.
  public var saves: AsyncStream<ContextSave> {
    AsyncStream { continuation in
      let observation = observeSaves { continuation.yield($0) }
      continuation.onTermination = { _ in observation.cancel() }
    }
  }
}
