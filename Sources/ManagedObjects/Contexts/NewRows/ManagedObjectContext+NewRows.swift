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

  /// Forgets the rows that were to be inserted.
  package func takeBackRows() {
    home.check()
    newRows = []
  }
}
