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
        var part = save.part(error.changes)
        finish(&part, error.result)
        try settle(error.underlying, attempt)
      } catch {
        try settle(error, attempt)
      }
      attempt += 1
      save = try gather(validating: validating)
    }
    return StoreWriteResult(ids: [])
  }

  /// Lets the merge policy settle conflicts. - Throws: any other error, and conflicts when there were too many.
  private func settle(_ error: any Error, _ attempt: Int) throws {
    guard attempt < Self.attempts else { throw error }
    switch error {
    case ManagedObjectError.mergeConflicts(let conflicts):
      try mergePolicy.resolve(optimisticLockingConflicts: conflicts, in: self)
    case ManagedObjectError.constraintConflicts(let conflicts):
      try mergePolicy.resolve(constraintConflicts: conflicts, in: self)
    default: throw error
    }
  }
}
