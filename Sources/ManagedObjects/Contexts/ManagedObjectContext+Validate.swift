extension ManagedObjectContext {
  /// Checks what is about to be saved against the model.
  /// - Throws: ``ManagedObjectError/validation(_:)`` with every failure.
  func validate(_ inserted: ContiguousArray<ManagedObject>, _ updated: [ManagedObject]) throws {
    var failures: [ValidationFailure] = []
    var rules: ValidationRules?
    for object in inserted {
      if rules?.entity !== object.entity { rules = ValidationRules.of(object.entity) }
      rules?.check(object.slots, of: object.id, into: &failures)
    }
    for object in updated {
      if rules?.entity !== object.entity { rules = ValidationRules.of(object.entity) }
      rules?.check(object.slots, of: object.id, into: &failures)
      if let key = object.entity.primaryKey, object.slots[key.slot] != object.committed[key.slot] {
        failures.append(.init(entity: object.entity, objectID: object.id, property: key.name, reason: .primaryKeyChanged))
      }
    }
    guard failures.isEmpty else { throw ManagedObjectError.validation(failures) }
  }
}
