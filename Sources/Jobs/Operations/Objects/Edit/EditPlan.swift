import Importing
package import ManagedObjects

/// What is to become of one object, of the types that the model says. Made once, it can be applied in any context.
package struct EditPlan {
  /// What is wrong with the wish for one property.
  package struct Fault: Sendable, Equatable {
    package let property: String
    package let reason: String
  }

  /// Where a to-one relationship is to lead.
  private enum Destination {
    case none
    case number(Int64)
    case key(AttributeDescription, Value)
  }

  private let options: EditOptions
  private let entity: EntityDescription
  private var attributes: [AssignedValues] = []
  private var references: [(relationship: RelationshipDescription, destination: Destination)] = []
  /// What no content of the store can make right, one a property.
  package private(set) var faults: [Fault] = []

  package init(_ options: EditOptions, of entity: EntityDescription) {
    self.options = options
    self.entity = entity
    for (name, given) in options.values.sorted(by: { $0.key < $1.key }) { add(name, given) }
    for name in options.cleared.names { add(name, .null) }
  }

  /// - Throws: ``JobFailure`` of the code `bad_options`.
  package func check() throws {
    if let fault = faults.first { throw EditOptions.bad("\(fault.property): \(fault.reason)") }
    if let twice = options.cleared.names.first(where: { options.values[$0] != nil }) {
      throw EditOptions.bad("\(twice) is in both set and clear")
    }
    switch (options.object, options.isDeletion) {
    case (nil, true): throw EditOptions.bad("delete is of an object: say its number as object")
    case (nil, false):
      if entity.isAbstract { throw EditOptions.bad("\(entity.name) is abstract, so it has no objects of its own") }
      if options.version != nil { throw EditOptions.bad("a new object has no version") }
    case (_, true):
      if !options.values.isEmpty || !options.cleared.names.isEmpty {
        throw EditOptions.bad("an object that is deleted gets no values: leave out set and clear, or delete")
      }
    case (_, false):
      if options.values.isEmpty, options.cleared.names.isEmpty {
        throw EditOptions.bad("there is nothing to change: name attributes and their new values in set, or in clear")
      }
    }
  }

  // MARK: Reading

  private mutating func add(_ name: String, _ given: UpdateOptions.Given) {
    do {
      if let (relationship, isNumber) = try relationship(name) {
        let destination = try Self.destination(given, of: relationship, isNumber: isNumber)
        if case .none = destination, !relationship.isOptional {
          throw EditOptions.bad("it is required, and can't be without an object")
        }
        references.append((relationship, destination))
      } else {
        attributes.append(try AssignedValues([name: given], of: entity))
      }
    } catch {
      var reason = JobFailure(error).message
      for opening in [JobOptionsError.opening, "set: "] where reason.hasPrefix(opening) {
        reason = String(reason.dropFirst(opening.count))
      }
      faults.append(Fault(property: name, reason: reason))
    }
  }

  /// The relationship that a name means, and whether it stands for the other object's number; nil for no relationship.
  private func relationship(_ name: String) throws -> (RelationshipDescription, isNumber: Bool)? {
    let suffix = ".objectID"
    let isNumber = entity.propertiesByName[name] == nil && name.hasSuffix(suffix)
    let own = isNumber ? String(name.dropLast(suffix.count)) : name
    guard let relationship = entity.propertiesByName[own] as? RelationshipDescription else { return nil }
    guard !relationship.isToMany else {
      throw EditOptions.bad("it leads to many objects: set the relationship at their end")
    }
    guard !relationship.isUnstored else { throw EditOptions.bad("the store doesn't keep it") }
    return (relationship, isNumber)
  }

  private static func destination(
    _ given: UpdateOptions.Given, of relationship: RelationshipDescription, isNumber: Bool
  ) throws -> Destination {
    if case .null = given { return .none }
    if !isNumber, let key = relationship.destinationEntity.keyAttribute {
      return .key(key, try AssignedValues.value(given, of: key))
    }
    let text =
      switch given {
      case .number(let text), .text(let text): text
      case .bool(let flag): "\(flag)"
      case .null: ""
      }
    guard let number = Int64(text), number > 0 else {
      throw EditOptions.bad(
        "'\(text.prefix(80))' isn't the number of an object of \(relationship.destinationEntity.name)")
    }
    return .number(number)
  }

  // MARK: Applying

  /// Changes, inserts or deletes the object in the context, without saving.
  /// - Returns: the object, and whether anything differs now.
  /// - Throws: ``EditError``, or the store's error.
  package func apply(in context: ManagedObjectContext) throws -> (object: ManagedObject, isChanged: Bool) {
    guard let number = options.object else {
      let object = try context.insert(entity.name)
      for values in attributes { _ = values.assign(to: object) }
      for (relationship, destination) in references { _ = try lead(relationship, of: object, to: destination, context) }
      return (object, true)
    }
    guard let object = try Self.object(number, of: entity, in: context) else {
      throw EditError.gone(entity: entity.name, number: number)
    }
    let version = RowVersion.text(of: object)
    if let seen = options.version, seen != version {
      throw EditError.changed(entity: entity.name, number: number, version: version)
    }
    if options.isDeletion {
      context.delete(object)
      return (object, true)
    }
    var isChanged = false
    for values in attributes where values.assign(to: object) { isChanged = true }
    for (relationship, destination) in references
    where try lead(relationship, of: object, to: destination, context) { isChanged = true }
    return (object, isChanged)
  }

  /// The object of a number; nil where there is none.
  package static func object(
    _ number: Int64, of entity: EntityDescription, in context: ManagedObjectContext
  ) throws -> ManagedObject? {
    let id = try context.persistentStoreCoordinator.managedObjectID(entity: entity.name, number: number)
    return try context.fetch(
      FetchRequest<ManagedObject>(
        entityName: entity.name, predicate: .comparison(.path("SELF"), .equal, .constant(.object(id))), fetchLimit: 1)
    ).first
  }

  private func lead(
    _ relationship: RelationshipDescription, of object: ManagedObject, to destination: Destination,
    _ context: ManagedObjectContext
  ) throws -> Bool {
    let other = relationship.destinationEntity
    let found: ManagedObject?
    switch destination {
    case .none: found = nil
    case .number(let number):
      found = try Self.object(number, of: other, in: context)
      if found == nil {
        throw EditError.noDestination(property: relationship.name, reason: "there is no \(other.name) \(number)")
      }
    case .key(let key, let value):
      found = try context.fetch(
        FetchRequest<ManagedObject>(entityName: other.name, predicate: .equal(key.name, value), fetchLimit: 1)
      ).first
      if found == nil {
        throw EditError.noDestination(
          property: relationship.name,
          reason: "there is no \(other.name) whose \(key.name) is '\(value.plainText.prefix(80))'")
      }
    }
    let new = found.map { Value.object($0.objectID) } ?? .null
    guard object.value(at: relationship.slot) != new else { return false }
    object.setValue(new, at: relationship.slot)
    return true
  }
}

extension EntityDescription {
  /// The attribute that people know its objects by: that of its first uniqueness constraint of one attribute.
  package var keyAttribute: AttributeDescription? { uniquenessConstraints.first { $0.count == 1 }?.first }
}
