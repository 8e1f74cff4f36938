/// Makes the rows of a batch insert, one by one, from the values of the request.
struct BatchRows {
  private let entity: EntityDescription
  private let newID: () -> ManagedObjectID
  private var give: () throws -> BatchRow?
  /// The required properties.
  private let required: [PropertyDescription]
  /// Relationships that could lead into another store, and the store of the rows.
  private let references: [RelationshipDescription]
  private let store: PersistentStore

  init(
    _ source: BatchInsertRequest.Source, _ entity: EntityDescription, to store: PersistentStore,
    context: ManagedObjectContext
  ) {
    self.entity = entity
    self.store = store
    references = entity.relationships.filter { !$0.isToMany && !$0.isTransient }
    newID = { [unowned context] in context.temporaryID(of: entity) }
    required = entity.properties.filter { !$0.isOptional && !$0.isTransient && !$0.holdsSet && !$0.isDerived }
    switch source {
    case .objects(let objects):
      var remaining = objects.makeIterator()
      give = { try remaining.next().map { try Self.row($0, entity) } }
    case .dictionaries(let handler):
      give = {
        var values: [String: Value] = [:]
        return handler(&values) ? nil : try Self.row(values, entity)
      }
    case .managedObjects(let handler):
      let place = ObjectPlace(
        confinement: context.confinement, id: context.temporaryID(of: entity), content: RowValues(entity.initialValues),
        state: .detached,
        isFault: false)
      let object = entity.objectClass.init(place)
      give = {
        object.slots = entity.initialValues
        if handler(object) { return nil }
        try Self.check(object.slots, entity)
        return BatchRow(values: object.slots, given: nil)
      }
    }
  }

  /// The next row; nil after the last.
  /// - Throws: an error for a value that doesn't fit the model.
  func next() throws -> BatchRow? {
    guard var row = try give() else { return nil }
    row.id = newID()
    let missing = required.filter { row.values[$0.slot].isNull }
    guard missing.isEmpty else {
      throw ManagedObjectError.validation(
        missing.map { .init(entity: entity, objectID: nil, property: $0.name, reason: .missing) })
    }
    try checkStore(row)
    return row
  }

  /// Checks that no relationship leads into another store.
  private func checkStore(_ row: BatchRow) throws {
    let failures = references.compactMap { relationship -> ValidationFailure? in
      guard case .object(let id) = row.values[relationship.slot], !id.isTemporaryID,
        id.scope.storeIdentifier != store.identifier
      else { return nil }
      return ValidationFailure(
        entity: entity, objectID: nil, property: relationship.name, reason: .otherStore([id]))
    }
    guard failures.isEmpty else { throw ManagedObjectError.validation(failures) }
  }

  private static func row(_ given: [String: Value], _ entity: EntityDescription) throws -> BatchRow {
    var values = entity.initialValues
    var slots: [Int] = []
    slots.reserveCapacity(given.count)
    for (name, value) in given {
      let property = try BatchProperty.settable(name, value, of: entity)
      values[property.slot] = value
      slots.append(property.slot)
    }
    return BatchRow(values: values, given: slots)
  }

  private static func check(_ values: ContiguousArray<Value>, _ entity: EntityDescription) throws {
    for attribute in entity.attributes where !values[attribute.slot].fits(attribute.type) {
      throw ManagedObjectError.wrongType(
        entity: entity.name, property: attribute.name, expected: attribute.type.rawValue,
        found: values[attribute.slot].typeName)
    }
  }
}

/// One row of a batch insert.
struct BatchRow {
  var id: ManagedObjectID?
  var values: ContiguousArray<Value>
  /// The slots with given values; nil when they are unknown and values that differ from the defaults count as given.
  let given: [Int]?

  /// Whether the value in a slot was given.
  func gives(_ slot: Int, standard: Value) -> Bool { given?.contains(slot) ?? (values[slot] != standard) }
}

enum BatchProperty {
  /// The property of that name, if a batch request can give it that value.
  static func settable(_ name: String, _ value: Value?, of entity: EntityDescription) throws -> PropertyDescription {
    guard let property = entity.propertiesByName[name] else {
      throw ManagedObjectError.unknownProperty(entity: entity.name, name: name)
    }
    func refuse(_ expected: String) -> ManagedObjectError {
      .wrongType(entity: entity.name, property: name, expected: expected, found: value?.typeName ?? "expression")
    }
    if let attribute = property as? AttributeDescription {
      if attribute.isDerived { throw refuse("no value, for it is derived") }
      if let value, !value.fits(attribute.type) { throw refuse(attribute.type.rawValue) }
    } else if let relationship = property as? RelationshipDescription {
      guard !relationship.isToMany, relationship.inverseRelationship?.isToMany ?? true else {
        throw refuse(
          "change of a context: a batch request sets to-one relationships only that nothing or a set leads back from")
      }
      switch value {
      case .null, nil: break
      case .object(let id) where !id.isTemporaryID && id.entity.isKindOf(relationship.destinationEntity): break
      default: throw refuse("permanent ID of \(relationship.destinationEntity.name)")
      }
    }
    return property
  }
}
