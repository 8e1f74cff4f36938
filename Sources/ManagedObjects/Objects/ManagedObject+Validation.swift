extension ManagedObject {
  /// The inherited ``validateValue(_:forKey:)``.
  final func checkRules(for value: Value, _ key: String) throws {
    confinement.check()
    guard let property = entity.propertiesByName[key] else {
      throw ManagedObjectError.unknownProperty(entity: entity.name, name: key)
    }
    if confinement.context?.callbacks.isCollectingFailures == true { return }
    if isUnfilled { confinement.context?.fulfill(self) }
    var values = slots
    values[property.slot] = value
    var failures: [ValidationFailure] = []
    entity.validationRules.check(values, of: id, into: &failures)
    failures.removeAll { $0.property != key }
    guard failures.isEmpty else { throw ManagedObjectError.validation(failures) }
  }

  /// The inherited ``validateForInsert()`` and ``validateForUpdate()``.
  final func checkProperties() throws {
    confinement.check()
    guard let context = confinement.context, !context.callbacks.isCollectingFailures else { return }
    if isUnfilled { context.fulfill(self) }
    try context.throwDeferredError()
    var failures: [ValidationFailure] = []
    SaveValidation(context).checkProperties(of: self, into: &failures)
    guard failures.isEmpty else { throw ManagedObjectError.validation(failures) }
  }

  /// The inherited ``validateForDelete()``.
  final func checkDeletion() throws {
    confinement.check()
    guard let context = confinement.context, !context.callbacks.isCollectingFailures else { return }
    let denied = DeleteRules(context).denials(of: self)
    try context.throwDeferredError()
    guard denied.isEmpty else { throw ManagedObjectError.validation(denied) }
  }
}
