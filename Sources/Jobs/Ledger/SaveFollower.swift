import Foundation
import ManagedObjects

/// Merges every save of one context into another, on the other's queue, for as long as it lives.
final class SaveFollower: @unchecked Sendable {
  // Sendable: constant, and `NotificationCenter` takes the token back on any thread.
  private let token: any NSObjectProtocol

  /// - Parameter merged: called on the other's queue after each merge, with how long ago the save was.
  init(
    of source: ManagedObjectContext, into target: ManagedObjectContext,
    merged: @escaping @Sendable (Duration) -> Void = { _ in }
  ) {
    token = NotificationCenter.default.addObserver(
      forName: ManagedObjectContext.didSaveObjectsNotification, object: source, queue: nil
    ) { note in
      guard let save = ContextSave(note) else { return }
      let saved = ContinuousClock.now
      target.perform {
        target.mergeChanges(fromContextDidSave: save)
        merged(saved.duration(to: .now))
      }
    }
  }

  deinit { NotificationCenter.default.removeObserver(token) }
}
