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
}
