// What validation that a class inherits does. A save checks the model's rules by itself and collects what a class adds,
// so that an override which begins with `try super…` goes on, and every failure is reported together.

extension ManagedObject {
  /// What ``validateValue(_:forKey:)`` does by itself.
  final func checkRules(for value: Value, _ key: String) throws {
    home.check()
    guard let property = entity.propertiesByName[key] else {
      throw ManagedObjectError.unknownProperty(entity: entity.name, name: key)
    }
    if home.context?.isCollectingFailures == true { return }
    if isUnfilled { home.context?.fulfill(self) }
    var values = slots
    values[property.slot] = value
    var failures: [ValidationFailure] = []
    entity.validationRules.check(values, of: id, into: &failures)
    failures.removeAll { $0.property != key }
    guard failures.isEmpty else { throw ManagedObjectError.validation(failures) }
  }

  /// What ``validateForInsert()`` and ``validateForUpdate()`` do by themselves.
  final func checkProperties() throws {
    home.check()
    guard let context = home.context, !context.isCollectingFailures else { return }
    if isUnfilled { context.fulfill(self) }
    try context.throwDeferredError()
    var failures: [ValidationFailure] = []
    context.checkProperties(of: self, into: &failures)
    guard failures.isEmpty else { throw ManagedObjectError.validation(failures) }
  }

  /// What ``validateForDelete()`` does by itself.
  final func checkDeletion() throws {
    home.check()
    guard let context = home.context, !context.isCollectingFailures else { return }
    let denied = context.denials(of: self)
    try context.throwDeferredError()
    guard denied.isEmpty else { throw ManagedObjectError.validation(denied) }
  }
}

extension ManagedObjectContext {
  /// Checks an object with a class of its own as a save does: the model's rules, its properties, the whole.
  func check(_ object: ManagedObject, into failures: inout [ValidationFailure]) {
    checkProperties(of: object, into: &failures)
    collect(of: object, into: &failures) {
      try object.state == .inserted ? object.validateForInsert() : object.validateForUpdate()
    }
  }

  /// Asks the object's class about each property, then the model's rules about all.
  func checkProperties(of object: ManagedObject, into failures: inout [ValidationFailure]) {
    if object.entity.validatesValues {
      for property in object.entity.properties {
        let value = object.slots[property.slot]
        if case .unresolved = value { continue }
        collect(of: object, property.name, into: &failures) {
          var replaced = value
          try object.validateValue(&replaced, forKey: property.name)
          if replaced != value { try object.setValue(replaced, forKey: property.name) }
        }
      }
    }
    object.entity.validationRules.check(object.slots, of: object.id, into: &failures)
  }

  /// Runs a class's own validation and keeps what it throws.
  func collect(
    of object: ManagedObject, _ property: String = "", into failures: inout [ValidationFailure],
    _ body: () throws -> Void
  ) {
    let wasCollecting = isCollectingFailures
    isCollectingFailures = true
    defer { isCollectingFailures = wasCollecting }
    do {
      try body()
    } catch ManagedObjectError.validation(let several) {
      failures += several
    } catch let failure as ValidationFailure {
      failures.append(failure)
    } catch {
      failures.append(ValidationFailure(object, property: property, message: String(describing: error)))
    }
  }
}
