package import Foundation

extension PersistentStoreCoordinator {
  /// The maintenance of one of the stores.
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

  /// Prepares a copy to become a store's content: see ``StoreMaintenance/prepareCopy(at:model:entities:migration:mark:_:)``.
  package func prepareCopy(
    at url: URL, for store: PersistentStore, migration: MigrationOptions, mark: String, _ watch: MaintenanceWatch
  ) throws {
    try maintenance(of: store).prepareCopy(
      at: url, model: model, entities: store.entities, migration: migration, mark: mark, watch)
  }

  /// Replaces a store's content by a prepared copy, and announces it to everything that follows the store's saves: contexts
  /// that merge automatically read their objects again and forget those that don't exist any more, and fetched results
  /// controllers fetch again. Others get a did-save notification that is ``ContextSave/isWholesale``.
  ///
  /// Saves wait for it. A save of objects that were read before meets a merge conflict like any other, and follows its
  /// context's merge policy.
  package func replaceContent(
    of store: PersistentStore, with copy: URL, _ watch: MaintenanceWatch
  ) throws {
    let maintenance = try maintenance(of: store)
    let number = try asSave("replace a store's content") { try maintenance.replaceContent(with: copy, watch) }
    let context = ManagedObjectContext(.confinement, coordinator: self, name: "replaced content")
    let roots = Set(store.entities.map(\.rootEntity.index))
    var save = ContextSave(wholesaleOf: self, roots, by: context)
    save.number = number
    context.announce(save)
  }
}
