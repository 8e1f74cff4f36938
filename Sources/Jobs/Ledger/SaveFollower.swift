import Foundation
import ManagedObjects

/// Merges every save of one context into another, on the other's queue, for as long as it lives.
final class SaveFollower: @unchecked Sendable {
  // Sendable: constant, and `NotificationCenter` takes the token back on any thread.
  private let token: any NSObjectProtocol

  init(of source: ManagedObjectContext, into target: ManagedObjectContext) {
    token = NotificationCenter.default.addObserver(
      forName: ManagedObjectContext.didSaveObjectsNotification, object: source, queue: nil
    ) { note in
      guard let save = ContextSave(note) else { return }
      target.perform { target.mergeChanges(fromContextDidSave: save) }
    }
  }

  deinit { NotificationCenter.default.removeObserver(token) }
}
