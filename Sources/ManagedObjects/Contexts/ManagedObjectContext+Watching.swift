import Foundation

extension ManagedObjectContext {
  /// Calls `handler` on this context's queue with what each did-change notification tells, for as long as what it
  /// returns is kept.
  public func observeChanges(_ handler: @escaping (ContextChanges) -> Void) -> ContextObservation {
    home.check()
    let handler = QueueBound(handler)
    return ContextObservation(Self.didChangeObjectsNotification, of: self) { note in
      if let changes = ContextChanges(note) { handler.call(changes) }
    }
  }

  /// Calls `handler` on this context's queue with what each of its saves wrote, for as long as what it returns is kept.
  public func observeSaves(_ handler: @escaping @Sendable (ContextSave) -> Void) -> ContextObservation {
    ContextObservation(Self.didSaveObjectsNotification, of: self) { note in
      if let save = ContextSave(note) { handler(save) }
    }
  }

  /// What this context saves from now on, to be read anywhere. Ends with the task that reads it.
  ///
  /// The saves wait for their reader, so one that lags holds their rows in memory.
  public var saves: AsyncStream<ContextSave> {
    AsyncStream { continuation in
      let observation = observeSaves { continuation.yield($0) }
      continuation.onTermination = { _ in observation.cancel() }
    }
  }
}

/// A handler that is told of a context's notifications, until this is cancelled or let go of. Safe from any thread.
public final class ContextObservation: @unchecked Sendable {
  // Sendable: the token is constant, and NotificationCenter takes it from any thread, any number of times.
  private let token: any NSObjectProtocol

  init(
    _ name: Notification.Name, of context: ManagedObjectContext, _ handler: @escaping @Sendable (Notification) -> Void
  ) {
    token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil, using: handler)
  }

  deinit { cancel() }

  /// Tells the handler no more.
  public func cancel() { NotificationCenter.default.removeObserver(token) }
}

/// A closure of one queue, which the notification centre asks to be `Sendable`.
private final class QueueBound<Argument>: @unchecked Sendable {
  // Sendable: a context posts on its own queue only, which is where the closure came from.
  let call: (Argument) -> Void
  init(_ call: @escaping (Argument) -> Void) { self.call = call }
}
