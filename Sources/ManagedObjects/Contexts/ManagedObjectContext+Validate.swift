extension ManagedObjectContext {
  /// Checks what is about to be saved against the model.
  /// - Throws: ``ManagedObjectError/validation(_:)`` with every failure, the deletions that are denied first.
  func validate(
    _ inserted: ContiguousArray<ManagedObject>, _ updated: ContiguousArray<ManagedObject>,
    _ deleted: ContiguousArray<ManagedObject>
  ) throws {
    var failures = deniedDeletions()
    if model.hasOwnClasses {
      for object in deleted where object.entity.hasOwnClass {
        collect(of: object, into: &failures) { try object.validateForDelete() }
      }
    }
    var rules: ValidationRules?
    var isAbstract = false
    for object in inserted {
      if rules?.entity !== object.entity {
        rules = ValidationRules.of(object.entity)
        isAbstract = object.entity.isAbstract
      }
      if isAbstract {
        failures.append(.init(entity: object.entity, objectID: object.id, property: "", reason: .abstractEntity))
      }
      if object.entity.hasOwnClass {
        check(object, into: &failures)
      } else {
        rules?.check(object.slots, of: object.id, into: &failures)
      }
      // An ID that was obtained before says what the attribute said then.
      if !object.id.isTemporaryID, let key = object.entity.primaryKey,
        object.slots[key.slot] != .int(object.id.number)
      {
        failures.append(keyChanged(object, key))
      }
    }
    for object in updated {
      if rules?.entity !== object.entity { rules = ValidationRules.of(object.entity) }
      if object.entity.hasOwnClass {
        check(object, into: &failures)
      } else {
        rules?.check(object.slots, of: object.id, into: &failures)
      }
      if let key = object.entity.primaryKey, object.slots[key.slot] != object.committed[key.slot] {
        failures.append(keyChanged(object, key))
      }
    }
    guard failures.isEmpty else { throw ManagedObjectError.validation(failures) }
  }

  private func keyChanged(_ object: ManagedObject, _ key: AttributeDescription) -> ValidationFailure {
    .init(entity: object.entity, objectID: object.id, property: key.name, reason: .primaryKeyChanged)
  }
}
