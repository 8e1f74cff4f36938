import Logging

/// A change that was announced to a context and that it couldn't merge.
///
/// ``ManagedObjectContext/mergeChanges(fromContextDidSave:)-(Notification)`` can't throw, as in Core Data, and merges the rest
/// of a notification. So it logs these, under the label `ManagedObjects`, and passes them to
/// ``ManagedObjectContext/mergeProblemHandler``.
public enum MergeProblem: Error, Sendable, Hashable {
  /// The notification has none of the keys under which a save lists its changes.
  case noChanges(notification: String)
  /// What stands under a key is neither an object nor the ID or URI of one that the model could have.
  case notAnObject(String, key: String)
  /// The object was never saved, as far as the notification knows, so no other context can have it.
  case temporaryID(ManagedObjectID)
  /// The object is in a store that the context's coordinator doesn't have.
  case otherStore(ManagedObjectID)
  /// The store couldn't read the changed rows. Registered objects read them again when they are touched.
  case unreadable(reason: String)

  /// Logs what a context couldn't merge, in one message. That other stores' objects arrive is usual where a program passes on
  /// every save of the process.
  static func log(_ problems: [MergeProblem], in context: ManagedObjectContext) {
    guard let first = problems.first else { return }
    let isUsual = problems.allSatisfy { if case .otherStore = $0 { true } else { false } }
    let others = problems.count > 1 ? ", and \(problems.count - 1) more like it" : ""
    ManagedObjectContext.logger.log(
      level: isUsual ? .debug : .warning,
      "the context \"\(context.name ?? "")\" couldn't merge everything it was given: \(first)\(others)")
  }
}

extension MergeProblem: CustomStringConvertible {
  /// What couldn't be merged, why, and what to do.
  public var description: String {
    switch self {
    case .noChanges(let name):
      return "the notification \(name) lists no changes: pass a did-save notification, or one with its keys"
    case .notAnObject(let item, let key):
      return "\(item) under the key \(key) isn't an object: list objects, their IDs or their URIs"
    case .temporaryID(let id):
      return "\(id) is temporary, so no other context can have the object: list it once it is saved"
    case .otherStore(let id): return "\(id) is in a store that the context's coordinator doesn't have"
    case .unreadable(let reason):
      return "the changed rows couldn't be read, so their objects will be read again when they are touched: \(reason)"
    }
  }
}
