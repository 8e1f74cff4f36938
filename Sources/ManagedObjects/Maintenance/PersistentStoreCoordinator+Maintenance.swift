package import Foundation

extension PersistentStoreCoordinator {
  /// What does the upkeep of one of the stores.
  /// - Throws: ``MaintenanceError/unsupported(store:)``, ``PersistentStoreError/unknownStore(identifier:)``.
  package func maintenance(of store: PersistentStore) throws -> any StoreMaintenance {
    guard persistentStores.contains(store) else {
      throw PersistentStoreError.unknownStore(identifier: store.identifier)
    }
    guard let maintenance = store.content as? any StoreMaintenance else {
      throw MaintenanceError.unsupported(store: store.description)
    }
    return maintenance
  }

  /// Makes a copy ready to become a store's content: see ``StoreMaintenance/prepareCopy(at:model:entities:migration:mark:_:)``.
  package func prepareCopy(
    at url: URL, for store: PersistentStore, migration: MigrationOptions, mark: String, _ watch: MaintenanceWatch
  ) throws {
    try maintenance(of: store).prepareCopy(
      at: url, model: model, entities: store.entities, migration: migration, mark: mark, watch)
  }

  /// Puts a copy that was made ready in the place of a store's content, and tells it to whoever follows the store's saves:
  /// contexts that merge by themselves read their objects again, objects that aren't there any more are let go of, and
  /// fetched results controllers fetch again. Others find it in a did-save notification that is ``ContextSave/isWholesale``.
  ///
  /// Saves wait meanwhile. A save of what was read before fails or is merged as its context's merge policy says, like any
  /// that meets what others have saved.
  package func replaceContent(
    of store: PersistentStore, with copy: URL, _ watch: MaintenanceWatch
  ) throws {
    let maintenance = try maintenance(of: store)
    let number = try saving.withLock { () -> Int64 in
      try refuseInTransaction("replace a store's content")
      try maintenance.replaceContent(with: copy, watch)
      lastSave += 1
      return lastSave
    }
    let context = ManagedObjectContext(.confinement, coordinator: self, name: "replaced content")
    let roots = Set(store.entities.map(\.rootEntity.index))
    var save = ContextSave(wholesaleOf: self, roots, by: context)
    save.number = number
    context.announce(save)
  }
}
