// A save that meets conflicts lets the policy change the objects and starts over from the delete rules: resolving one may
// delete objects, and what the merge made of two valid rows must be valid too. A save without conflicts never comes here.

extension ManagedObjectContext {
  /// Writes that a save tries before it gives up: each may meet what another writer has changed once more, or the next
  /// constraint of a row.
  private static var attempts: Int { 8 }

  /// Writes changes, and lets the merge policy settle conflicts.
  func write(_ save: inout Gathered, validating: Bool) throws -> StoreWriteResult {
    var attempt = 1
    while !save.changes.isEmpty {
      do {
        return try writing { try source.write(save.changes) }
      } catch let error as PartialWriteError {
        throw error.underlying
      } catch ManagedObjectError.mergeConflicts(let conflicts) where attempt < Self.attempts {
        try mergePolicy.resolve(optimisticLockingConflicts: conflicts, in: self)
      } catch ManagedObjectError.constraintConflicts(let conflicts) where attempt < Self.attempts {
        try mergePolicy.resolve(constraintConflicts: conflicts, in: self)
      }
      attempt += 1
      save = try gather(validating: validating)
    }
    return StoreWriteResult(ids: [])
  }
}
