/// Why an operation on one of several stores is impossible.
public enum PersistentStoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The model has no configuration of that name.
  case unknownConfiguration(name: String, known: [String])
  /// The coordinator has a store with that identifier already: the same file, or a copy of it.
  case alreadyAdded(identifier: String)
  /// The store isn't the coordinator's, or not any more.
  case unknownStore(identifier: String)
  /// The stores' configurations don't contain the entity.
  case notHeld(entity: String, stores: [String])
  /// The object isn't new or has a permanent ID, and so it has its store already.
  case notNew(ManagedObjectID)
  /// The store that holds the object isn't the coordinator's, or not any more.
  case notReachable(ManagedObjectID)
  /// The store was opened for reading only. Core Data: `NSPersistentStoreSaveError`, or `NSFileWriteNoPermissionError`.
  case readOnly(store: String, operation: String)
  /// No store of that type can be opened. Core Data: `NSPersistentStoreInvalidTypeError`.
  case unknownType(PersistentStore.StoreType, known: [PersistentStore.StoreType])
  /// The context has no coordinator yet, and no parent.
  case noCoordinator(context: String?)
  /// A new store can't be made where a file is already.
  case exists(path: String)
  /// A store of that type needs a place.
  case noURL(PersistentStore.StoreType)

  /// What is impossible, and what to do.
  public var description: String {
    switch self {
    case .unknownConfiguration(let name, let known):
      return "the model has no configuration \(name); it has "
        + (known.isEmpty ? "none" : known.sorted().joined(separator: ", "))
    case .alreadyAdded(let identifier):
      return "the coordinator has a store \(identifier) already: a file, and a copy of it, can be added once"
    case .unknownStore(let identifier):
      return "the store \(identifier) isn't one of this coordinator's: take one of its persistentStores"
    case .notHeld(let entity, stores: []): return "the request for \(entity) names no stores: leave it nil for all"
    case .notHeld(let entity, let stores):
      return "\(stores.joined(separator: ", ")): the configuration doesn't have \(entity); add the entity to it, or "
        + "name a store that holds it"
    case .notNew(let id):
      return
        "\(id) has its store already: only an object that was inserted here and has no permanent ID can be assigned"
    case .notReachable(let id):
      return "\(id) is of a store that the coordinator doesn't have: add the store, or drop the object"
    case .readOnly(let store, let operation):
      return "can't \(operation): \(store) was opened for reading only; add it without isReadOnly to change it"
    case .unknownType(let type, let known):
      return "no store of the type \(type) can be opened: the program links or has registered "
        + known.map(\.rawValue).joined(separator: ", ")
        + (type == .sqlite ? "; link the library SQLiteStore and import it" : "")
    case .noCoordinator(let name):
      return
        "the context\(name.map { " \"\($0)\"" } ?? "") has no coordinator and no parent: set one before its first use"
    case .exists(let path): return "\(path) exists: name another place, or destroy the store there first"
    case .noURL(let type): return "the description of a store of the type \(type) has no url: set it"
    }
  }
}
