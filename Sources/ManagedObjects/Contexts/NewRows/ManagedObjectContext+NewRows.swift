extension ManagedObjectContext {
  /// Inserts rows without objects for them, which the next ``saveValidated()`` writes and tells as it does objects': with
  /// permanent IDs, their values and a notification.
  ///
  /// Of a save that fails for a conflict the rows are to be taken back by ``takeBackRows()``: only objects can be settled by
  /// a merge policy.
  /// - Returns: false when somebody would miss the objects, or could: a class of their own, derived attributes, a context
  ///   with a parent or children, one that is watched or undoes. Nothing is inserted then.
  package func insert(_ new: NewRows) throws -> Bool {
    home.check()
    guard !new.entity.isAbstract else { throw ManagedObjectError.abstractEntity(name: new.entity.name) }
    guard !new.entity.hasOwnClass, !new.entity.attributes.contains(where: \.isDerived), parent == nil, children.isEmpty,
      door == nil,
      undoManager == nil, !announcesChanges, !observers.mayHaveAny,
      persistentStoreCoordinator.persistentStores.count == 1
    else { return false }
    if new.count > 0 { newRows.append(new) }
    return true
  }

  /// Compares rows that aren't inserted yet with those that the store has of the same keys. Changes that aren't saved don't count.
  ///
  /// - Parameters:
  ///   - key: the slot of the one attribute by which the entity's objects are unique.
  ///   - order: the rows in the order of their keys, as ``NewRows/order(by:)`` says.
  ///   - slots: what is compared.
  /// - Returns: nil where that can't be told without objects: the context isn't at the top, the entity has relatives, there
  ///   are several stores, or the store has no way of its own.
  package func matches(of rows: NewRows, by key: Int, order: [Int32], slots: [Int]) throws -> RowMatches? {
    home.check()
    guard parent == nil, rows.entity.superentity == nil, rows.entity.subentities.isEmpty,
      persistentStoreCoordinator.persistentStores.count == 1,
      let store = persistentStoreCoordinator.persistentStores.first, generation == nil
    else { return nil }
    return try store.content.matches(of: rows, by: key, order: order, slots: slots)
  }

  /// Forgets the rows that were to be inserted.
  package func takeBackRows() {
    home.check()
    newRows = []
  }
}
