/// Rows of one entity that a save inserts without an object for each: for an import, in whose context nobody looks at its
/// objects. Made on any thread.
///
/// The values were checked against the model, and refer to nothing that is new.
package struct NewRows: Sendable {
  let entity: EntityDescription
  let rows: [StoreRow]

  /// Rows with temporary IDs.
  ///
  /// The values come by a closure and not as a collection: code that is generic over a collection isn't specialised for
  /// another module's.
  package init(
    _ entity: EntityDescription, of coordinator: PersistentStoreCoordinator, count: Int,
    values: (Int) -> ContiguousArray<Value>
  ) {
    self.entity = entity
    let scope = coordinator.temporaryScope(of: entity)
    var number = ManagedObjectContext.temporaryNumbers(count)
    var rows: [StoreRow] = []
    rows.reserveCapacity(count)
    for index in 0..<count {
      number -= 1
      rows.append(StoreRow(id: ManagedObjectID(scope: scope, number: number), values: values(index)))
    }
    self.rows = rows
  }
}

extension ManagedObjectContext {
  /// Inserts rows without objects for them, which the next ``saveValidated()`` writes and tells as it does objects': with
  /// permanent IDs, their values and a notification.
  ///
  /// Of a save that fails for a conflict the rows are to be taken back by ``takeBackRows()``: only objects can be settled by
  /// a merge policy.
  /// - Returns: false when somebody would miss the objects, or could: a class of their own, a context with a parent or
  ///   children, one that is watched or undoes. Nothing is inserted then.
  package func insert(_ new: consuming NewRows) throws -> Bool {
    home.check()
    guard !new.entity.isAbstract else { throw ManagedObjectError.abstractEntity(name: new.entity.name) }
    guard !new.entity.hasOwnClass, parent == nil, children.isEmpty, door == nil, undoManager == nil, !announcesChanges,
      !observers.mayHaveAny, persistentStoreCoordinator.persistentStores.count == 1
    else { return false }
    if newRows.isEmpty { newRows = new.rows } else { newRows += new.rows }
    return true
  }

  /// Forgets the rows that were to be inserted.
  package func takeBackRows() {
    home.check()
    newRows = []
  }
}
