import Foundation

// Changes of which only IDs are known: another process made them, a batch request, or a program that keeps its own
// records. The rows are read once, on the caller's thread, and merged like a save. What the rows were before isn't known,
// so sets that may have changed are forgotten and read again when they are touched.

extension ManagedObjectContext {
  /// Merges changes that no context of the coordinator saved into several contexts.
  ///
  /// May be called from anywhere, best in the background: the rows of inserted and changed objects are read here, once for
  /// all contexts, and each context takes them in on its own queue, parents before their children. Of objects that aren't
  /// registered in any of them nothing is kept, but fetched results controllers see them.
  ///
  /// Source: `mergeChanges(fromRemoteContextSave:into:)` of Core Data.
  /// - Parameters:
  ///   - changes: by ``NotificationKey``, of objects or of object IDs: arrays or sets of ``ManagedObjectID`` or of `URL`.
  ///     Refreshed and invalidated objects are taken as changed ones. With ``NotificationKey/invalidatedAllObjects`` the
  ///     contexts refresh all their objects. IDs that aren't of a context's coordinator are left alone.
  ///   - contexts: where to; they needn't have the same coordinator.
  /// - Throws: the store's error, when the rows can't be read.
  public static func mergeChanges(
    fromRemoteContextSave changes: [AnyHashable: Any], into contexts: [ManagedObjectContext]
  ) throws {
    let ordered = contexts.sorted { $0.depth < $1.depth }
    if changes[NotificationKey.invalidatedAllObjects.rawValue] != nil {
      for context in ordered {
        let coordinator = context.persistentStoreCoordinator
        let all = ContextSave(wholesaleOf: coordinator, Set(coordinator.model.entities.map(\.rootEntity.index)))
        context.performAndWait { context.mergeChanges(fromContextDidSave: all) }
      }
      return
    }
    var coordinators: [ObjectIdentifier: PersistentStoreCoordinator] = [:]
    for context in ordered {
      coordinators[ObjectIdentifier(context.persistentStoreCoordinator)] = context.persistentStoreCoordinator
    }
    for coordinator in coordinators.values {
      let save = try RemoteChanges(changes, of: coordinator).save(readFrom: coordinator)
      for context in ordered where context.persistentStoreCoordinator === coordinator {
        context.performAndWait { context.mergeChanges(fromContextDidSave: save) }
      }
    }
  }

  /// How many contexts are above.
  private var depth: Int {
    var (depth, above) = (0, parent)
    while let context = above { (depth, above) = (depth + 1, context.parent) }
    return depth
  }

  /// Forgets sets, and orders of sets, in which objects of a save's entities may have come or gone.
  func forgetSets(of save: ContextSave) {
    let ids = save.insertedObjectIDs + save.updatedObjectIDs + save.deletedObjectIDs
    forgetSets(leadingToRoots: Set(ids.map(\.entity.rootEntity.index)))
  }

  /// Forgets sets, and orders of sets, in which objects of whole hierarchies may have come or gone.
  func forgetSets(leadingToRoots roots: Set<Int>) {
    for object in registry.objects where !object.isUnfilled && object.state != .detached {
      var isChanged = false
      for relationship in object.entity.relationships where relationship.isToMany && object.hasResolved(relationship) {
        guard roots.contains(relationship.destinationEntity.rootEntity.index) else { continue }
        let slot = relationship.slot
        switch object.state {
        case .inserted, .deleted, .detached: continue
        case .updated where !object.committed.isEmpty && object.slots[slot] != object.committed[slot]: continue
        case .updated, .clean: break
        }
        object.slots[slot] = .unresolved
        if !object.committed.isEmpty { object.committed[slot] = .unresolved }
        isChanged = true
      }
      if isChanged { pending.noteRefreshed(object) }
    }
  }
}

/// Which objects of one coordinator were changed.
private struct RemoteChanges {
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

  /// Reads the rows. One that isn't there any more was deleted since.
  func save(readFrom coordinator: PersistentStoreCoordinator) throws -> ContextSave {
    let rows = try coordinator.rows(with: Array(inserted.union(updated)))
    let gone = updated.union(inserted).subtracting(rows.map(\.id))
    return ContextSave(
      remoteChangesOf: coordinator, inserted: rows.filter { inserted.contains($0.id) },
      updated: rows.filter { updated.contains($0.id) }, deleted: Array(deleted.union(gone)))
  }
}
