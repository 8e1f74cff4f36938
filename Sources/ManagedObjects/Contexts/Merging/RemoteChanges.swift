import Foundation

/// The objects of one coordinator that changed without a save of one of its contexts: another process made the changes, or a
/// batch request, or a program that keeps its own records. Only IDs are known. The rows are read once, on the caller's
/// thread, and merged like a save. What the rows were before is unknown, so sets that may have changed are forgotten and
/// read again when they are touched.
struct RemoteChanges {
  private var inserted: Set<ManagedObjectID> = []
  private var updated: Set<ManagedObjectID> = []
  private var deleted: Set<ManagedObjectID> = []

  init(_ changes: [AnyHashable: Any], of coordinator: PersistentStoreCoordinator) {
    typealias Key = ManagedObjectContext.NotificationKey
    func ids(_ keys: Key...) -> Set<ManagedObjectID> {
      var found: Set<ManagedObjectID> = []
      for key in keys { for item in Self.items(changes[key.rawValue]) { Self.add(item, of: coordinator, to: &found) } }
      return found
    }
    deleted = ids(.deletedObjects, .deletedObjectIDs)
    inserted = ids(.insertedObjects, .insertedObjectIDs).subtracting(deleted)
    updated = ids(
      .updatedObjects, .updatedObjectIDs, .refreshedObjects, .refreshedObjectIDs, .invalidatedObjects,
      .invalidatedObjectIDs
    ).subtracting(deleted).subtracting(inserted)
  }

  private static func items(_ value: Any?) -> [Any] {
    switch value {
    case let ids as Set<ManagedObjectID>: return Array(ids)
    case let ids as [ManagedObjectID]: return ids
    case let uris as Set<URL>: return Array(uris)
    case let items as [Any]: return items
    case let items as Set<AnyHashable>: return items.map(\.base)
    default: return []
    }
  }

  private static func add(
    _ item: Any, of coordinator: PersistentStoreCoordinator, to ids: inout Set<ManagedObjectID>
  ) {
    switch item {
    case let id as ManagedObjectID:
      if coordinator.persistentStores.contains(where: { $0.identifier == id.storeIdentifier }) { ids.insert(id) }
    case let uri as URL:
      if let id = coordinator.managedObjectID(forURIRepresentation: uri.absoluteString) { ids.insert(id) }
    case let uri as String:
      if let id = coordinator.managedObjectID(forURIRepresentation: uri) { ids.insert(id) }
    default: break
    }
  }

  /// Reads the rows. A row that is missing has been deleted since.
  func save(readFrom coordinator: PersistentStoreCoordinator) throws -> ContextSave {
    let rows = try coordinator.rows(with: Array(inserted.union(updated)))
    let gone = updated.union(inserted).subtracting(rows.map(\.id))
    return ContextSave(
      remoteChangesOf: coordinator, inserted: rows.filter { inserted.contains($0.id) },
      updated: rows.filter { updated.contains($0.id) }, deleted: Array(deleted.union(gone)))
  }
}
