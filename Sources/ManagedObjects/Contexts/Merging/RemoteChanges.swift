import Foundation

/// The objects of one coordinator that changed without a save of one of its contexts: another process made the changes, or a
/// batch request, or a program that keeps its own records. Only IDs are known. The rows are read once, on the caller's
/// thread, and merged like a save. What the rows were before is unknown, so sets that may have changed are forgotten and
/// read again when they are touched.
struct RemoteChanges {
  private typealias Key = ManagedObjectContext.NotificationKey

  private var inserted: Set<ManagedObjectID> = []
  private(set) var updated: Set<ManagedObjectID> = []
  private var deleted: Set<ManagedObjectID> = []
  /// Whether the changes have any of the keys of a save.
  private(set) var hasKeys = false
  /// What isn't an object of the coordinator's stores.
  private(set) var problems: [MergeProblem] = []
  private let coordinator: PersistentStoreCoordinator

  init(_ changes: [AnyHashable: Any], of coordinator: PersistentStoreCoordinator) {
    self.coordinator = coordinator
    deleted = take(changes, .deletedObjects, .deletedObjectIDs)
    inserted = take(changes, .insertedObjects, .insertedObjectIDs).subtracting(deleted)
    updated = take(
      changes, .updatedObjects, .updatedObjectIDs, .refreshedObjects, .refreshedObjectIDs, .invalidatedObjects,
      .invalidatedObjectIDs
    ).subtracting(deleted).subtracting(inserted)
  }

  /// Whether no object of the coordinator's stores is listed.
  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// The hierarchies of the objects, by the indexes of their root entities.
  var roots: Set<Int> { Set([inserted, updated, deleted].joined().map(\.entity.rootEntity.index)) }

  // MARK: Reading what is listed

  private mutating func take(_ changes: [AnyHashable: Any], _ keys: Key...) -> Set<ManagedObjectID> {
    var found: Set<ManagedObjectID> = []
    for key in keys {
      guard let value = changes[key.rawValue] else { continue }
      hasKeys = true
      guard let items = Self.items(value) else {
        problems.append(.notAnObject("\(value)", key: key.rawValue))
        continue
      }
      for item in items { add(item, key, to: &found) }
    }
    return found
  }

  /// The elements of an array or a set; nil for anything else.
  private static func items(_ value: Any) -> [Any]? {
    switch value {
    case let ids as Set<ManagedObjectID>: return Array(ids)
    case let ids as [ManagedObjectID]: return ids
    case let objects as Set<ManagedObject>: return Array(objects)
    case let uris as Set<URL>: return Array(uris)
    case let items as [Any]: return items
    case let items as Set<AnyHashable>: return items.map(\.base)
    case let items as NSSet: return items.allObjects
    case let items as NSArray: return Array(items)
    default: return nil
    }
  }

  private mutating func add(_ item: Any, _ key: Key, to ids: inout Set<ManagedObjectID>) {
    switch item {
    // The object may belong to any context: nothing but its ID is touched.
    case let object as ManagedObject: add(object.id, to: &ids)
    case let id as ManagedObjectID: add(id, to: &ids)
    case let uri as URL: add(uri: uri.absoluteString, key, to: &ids)
    case let uri as String: add(uri: uri, key, to: &ids)
    default: problems.append(.notAnObject("\(item)", key: key.rawValue))
    }
  }

  private mutating func add(_ id: ManagedObjectID, to ids: inout Set<ManagedObjectID>) {
    guard let store = id.storeIdentifier else { return problems.append(.temporaryID(id)) }
    guard coordinator.persistentStore(for: id) != nil, let entity = coordinator.model.entitiesByName[id.entity.name]
    else {
      return problems.append(.otherStore(id))
    }
    // Another coordinator may have read the model by itself.
    ids.insert(entity === id.entity ? id : ManagedObjectID(scope: .of(entity, in: store), number: id.number))
  }

  private mutating func add(uri: String, _ key: Key, to ids: inout Set<ManagedObjectID>) {
    guard let id = URL(string: uri).flatMap(coordinator.managedObjectID(forURIRepresentation:)) else {
      return problems.append(.notAnObject(uri, key: key.rawValue))
    }
    ids.insert(id)
  }

  // MARK: As a save

  /// Reads the rows. A row that is missing has been deleted since.
  func save(readFrom coordinator: PersistentStoreCoordinator) throws -> ContextSave {
    // The rows are at least as new, and so are the sets of their objects, which are read again.
    let latest = coordinator.latestSave
    let rows = try coordinator.rows(with: Array(inserted.union(updated)))
    let gone = updated.union(inserted).subtracting(rows.map(\.id))
    return ContextSave(
      remoteChangesOf: coordinator, after: latest, inserted: rows.filter { inserted.contains($0.id) },
      updated: rows.filter { updated.contains($0.id) }, deleted: Array(deleted.union(gone)))
  }

  /// The deletions alone, which need no rows.
  var saveOfDeletions: ContextSave {
    ContextSave(remoteChangesOf: coordinator, inserted: [], updated: [], deleted: Array(deleted))
  }
}

extension ManagedObjectModel {
  /// The hierarchies of the model, by the indexes of their root entities.
  var allRoots: Set<Int> { Set(entities.map(\.rootEntity.index)) }
}
