/// Checks changed objects against the model and by the methods of their classes.
///
/// A save checks the model's rules by itself and collects the failures of a class. An override that begins with `try super…`
/// therefore goes on, and every failure is reported together.
struct SaveValidation {
  let context: ManagedObjectContext
  private var callbacks: ObjectCallbacks { context.callbacks }
  /// The numbers of members after the save; nil outside of one.
  private let members: MemberCounts?

  init(_ context: ManagedObjectContext, _ owners: OwnerChanges? = nil) {
    self.context = context
    members = owners.map { MemberCounts(context, after: $0) }
  }

  /// Checks the changes that are about to be saved.
  /// - Throws: ``ManagedObjectError/validation(_:)`` with every failure, denied deletions first.
  func validate(
    _ inserted: ContiguousArray<ManagedObject>, _ updated: ContiguousArray<ManagedObject>,
    _ deleted: ContiguousArray<ManagedObject>
  ) throws {
    var failures = DeleteRules(context).denials()
    if context.model.hasOwnClasses {
      for object in deleted where object.entity.hasOwnClass {
        callbacks.collect(of: object, into: &failures) { try object.validateForDelete() }
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
      // An ID that was obtained earlier has the number that the attribute had then.
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
        rules?.check(object.slots, of: object.id, into: &failures) { memberCount($0, of: object) }
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

  /// Checks an object with a class of its own: the model's rules, its properties, the whole.
  func check(_ object: ManagedObject, into failures: inout [ValidationFailure]) {
    checkProperties(of: object, into: &failures)
    callbacks.collect(of: object, into: &failures) {
      try object.state == .inserted ? object.validateForInsert() : object.validateForUpdate()
    }
  }

  /// Checks each property by the object's class, then all by the model's rules.
  func checkProperties(of object: ManagedObject, into failures: inout [ValidationFailure]) {
    if object.entity.validatesValues {
      for property in object.entity.properties {
        let value = object.content[property.slot]
        if case .unresolved = value { continue }
        callbacks.collect(of: object, property.name, into: &failures) {
          var replaced = value
          try object.validateValue(&replaced, forKey: property.name)
          if replaced != value { try object.setValue(replaced, forKey: property.name) }
        }
      }
    }
    object.entity.validationRules.check(object.slots, of: object.id, into: &failures) { memberCount($0, of: object) }
  }

  /// The number of members of a set that hasn't been read, if they have changed. They aren't read for it.
  private func memberCount(_ set: RelationshipDescription, of object: ManagedObject) -> Int? {
    guard object.state == .updated, context.changeSet.changedSets(of: object).contains(set.slot) else { return nil }
    let members = members ?? MemberCounts(context, after: OwnerChanges(context.changeSet))
    return context.reading { try members.count(of: object.id, set) }
  }
}
