import Foundation

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
    ContextObservation(AnnouncedName.didSave.name, of: self) { note in
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
