extension ManagedObject {
  /// The attribute in a slot, for a typed class's accessors.
  ///
  /// Reading fills a fault. Writing an equal value changes nothing. An attribute whose type isn't `T` reads as nil;
  /// ``propertyNames`` and validation on save detect that.
  ///
  /// It is inlined at its uses: generic over another module's types it would cost ten times as much.
  @inlinable
  public final subscript<T: AttributeValue>(slot: Int) -> T? {
    get { T.read(from: self, slot: slot) }
    set { setValue(newValue?.slotValue ?? .null, at: slot) }
  }

  /// The value in a slot. Fills a fault.
  public final func value(at slot: Int) -> Value {
    confinement.check()
    if isUnfilled { fill(slot) }
    return content[slot]
  }

  /// The integer in a slot, nil when it holds none: ``value(at:)`` without copying a value of any kind.
  public final func integer(at slot: Int) -> Int64? {
    confinement.check()
    if isUnfilled { fill(slot) }
    return content.integer(slot)
  }

  /// The floating-point number in a slot, nil when it holds none.
  public final func double(at slot: Int) -> Double? {
    confinement.check()
    if isUnfilled { fill(slot) }
    return content.double(slot)
  }

  /// Sets the attribute in a slot. An equal value is no change.
  ///
  /// Relationships are set by ``setObject(_:_:)`` and ``setObjects(_:_:)``, which keep the inverse.
  public final func setValue(_ value: Value, at slot: Int) {
    confinement.check()
    if isUnfilled { fill() }
    if content.holds(value, in: slot) { return }
    willChange()
    slots[slot] = value
  }

  /// The value of the property called `key`: an attribute's, or the object or objects of a relationship as IDs. nil
  /// when the entity has no such property. `object["key"]` reads a Swift type, or objects, and throws for an unknown key.
  ///
  /// For a composite attribute it is `composite` with the values of all elements that have one, or `null` when none has. Its
  /// elements are properties, too: `address.city`. For a fetched property it is the result of ``fetchedObjects(_:)``.
  ///
  /// Source: `value(forKey:)` of Core Data, which raises for an unknown key where this returns nil.
  public final func value(forKey key: String) -> Value? {
    guard let property = entity.propertiesByName[key] else {
      if let composite = entity.compositeAttributesByName[key] { return value(of: composite) }
      guard entity.fetchedProperty(named: key) != nil else { return nil }
      return .orderedObjects(OrderedSet(fetchedObjects(key).map(\.id)))
    }
    if let relationship = property as? RelationshipDescription, relationship.isToMany {
      return resolved(relationship)
    }
    return value(at: property.slot)
  }

  /// Sets the property called `key`; for a composite attribute every element, to nil where the value doesn't name it. A number
  /// may be of another numeric type than the attribute if that type holds it exactly. Literals are values:
  /// `setValue("Ada", forKey: "name")`.
  ///
  /// Source: `setValue(_:forKey:)` of Core Data.
  /// - Throws: ``ManagedObjectError/unknownProperty(entity:name:)``, or
  ///   ``ManagedObjectError/wrongType(entity:property:expected:found:)`` when the value doesn't fit.
  public final func setValue(_ value: Value, forKey key: String) throws {
    guard let property = entity.propertiesByName[key] else {
      guard let composite = entity.compositeAttributesByName[key] else {
        throw ManagedObjectError.unknownProperty(entity: entity.name, name: key)
      }
      return try setValue(value, of: composite)
    }
    if let relationship = property as? RelationshipDescription {
      try setRelationship(relationship, to: value)
    } else if let attribute = property as? AttributeDescription {
      let value = value.exactly(as: attribute.type)
      guard value.fits(attribute.type) else {
        throw ManagedObjectError.wrongType(
          entity: entity.name, property: key, expected: attribute.type.rawValue, found: value.typeName)
      }
      setValue(value, at: property.slot)
    }
  }

  /// The properties that have changed since the object was read or saved, with their new values; for a new object, those that
  /// differ from the model's defaults. Transient properties are left out. A set whose members have changed is read, if it hasn't
  /// been. Source: `changedValues()` of Core Data.
  public final func changedValues() -> [String: Value] {
    confinement.check()
    readChangedSets()
    let former = state == .inserted ? entity.initialValues : committed
    guard hasChanges, !former.isEmpty else { return [:] }
    var changes: [String: Value] = [:]
    for property in entity.properties where slots[property.slot] != former[property.slot] && !property.isTransient {
      changes[property.name] = slots[property.slot]
    }
    return changes
  }

  /// Reads the one-to-many sets whose members have changed.
  private final func readChangedSets() {
    guard state == .updated, let context = confinement.context else { return }
    let sets = context.changeSet.changedSets(of: self)
    if sets.isEmpty { return }
    if isUnfilled { fill() }
    for slot in sets {
      if state == .updated, let set = entity.properties[slot] as? RelationshipDescription { resolved(set) }
    }
  }

  /// Whether a save would write any of its values: false when they were changed and changed back.
  package final var hasPersistentChanges: Bool {
    if committed.isEmpty { return false }
    for property in entity.properties where slots[property.slot] != committed[property.slot] {
      if property.isTransient || property.isDerived { continue }
      // In a one-to-many pair the rows at the other end decide who is in the set; only this side has its order.
      if let relationship = property as? RelationshipDescription, relationship.isToMany, !relationship.isManyToMany,
        !relationship.isOrdered
      {
        continue
      }
      return true
    }
    return false
  }

  /// Appends the failures of the model's validation and its class's.
  package final func validate(into failures: inout [ValidationFailure]) {
    confinement.check()
    if entity.hasOwnClass {
      if let context = confinement.context { SaveValidation(context).check(self, into: &failures) }
    } else {
      entity.validationRules.check(slots, of: id, into: &failures)
    }
  }

  /// Keeps the former values and reports the change to the context, before the first change since the last save.
  @inline(__always)
  final func willChange() {
    // Most changes follow others, and need neither.
    if state == .clean || !isChangePending { noteChange() }
  }

  private final func noteChange() {
    if state == .clean {
      confinement.context?.noteFirstChange(self)
    } else {
      confinement.context?.noteChanged(self)
    }
  }

  private final func fill() { confinement.context?.fulfill(self) }

  /// Reads the row unless this slot has been read, as some slots of a partial fault have.
  private final func fill(_ slot: Int) {
    guard case .unresolved = content[slot] else { return }
    if let probe = confinement.probe { probe.note(slot) } else { fill() }
  }
}

extension Value {
  /// Whether an attribute of `type` can hold it.
  package func fits(_ type: AttributeType) -> Bool {
    switch (self, type) {
    case (.null, _): return true
    case (.int(let value), _): return type.integerRange?.contains(value) ?? (type == .undefined)
    case (.double, .double), (.double, .float), (.decimal, .decimal), (.string, .string), (.bool, .boolean),
      (.date, .date), (.data, .binaryData), (.data, .transformable), (.data, .composite), (.uuid, .uuid),
      (.uri, .uri), (.object, .objectID):
      return true
    case (_, .undefined): return true
    case (.bool, _), (.double, _), (.decimal, _), (.string, _), (.date, _), (.data, _), (.uuid, _), (.uri, _),
      (.object, _), (.objects, _), (.orderedObjects, _), (.composite, _),
      (.unresolved, _):
      return false
    }
  }

  /// The kind of value, for messages.
  package var typeName: String {
    switch self {
    case .null: return "nil"
    case .bool: return "Boolean"
    case .int: return "Integer"
    case .double: return "Double"
    case .decimal: return "Decimal"
    case .string: return "String"
    case .date: return "Date"
    case .data: return "Binary"
    case .uuid: return "UUID"
    case .uri: return "URI"
    case .object: return "object"
    case .objects, .unresolved: return "set of objects"
    case .orderedObjects: return "ordered set of objects"
    case .composite: return "Composite"
    }
  }
}

extension ManagedObject {
  /// The values of a composite's elements by name; null when all of them are null.
  final func value(of composite: CompositeAttributeDescription) -> Value {
    var values: [String: Value] = [:]
    for (name, element) in composite.elements {
      let value: Value
      switch element {
      case .attribute(let attribute): value = self.value(at: attribute.slot)
      case .composite(let inner): value = self.value(of: inner)
      }
      if !value.isNull { values[name] = value }
    }
    return values.isEmpty ? .null : .composite(values)
  }

  /// Sets every element of a composite, to nil where it isn't named: a composite is one value.
  /// - Throws: ``ManagedObjectError/unknownProperty(entity:name:)`` or
  ///   ``ManagedObjectError/wrongType(entity:property:expected:found:)``, before anything is changed.
  final func setValue(_ value: Value, of composite: CompositeAttributeDescription) throws {
    var changes: [(AttributeDescription, Value)] = []
    try collect(value, of: composite, into: &changes)
    for (attribute, value) in changes { setValue(value, at: attribute.slot) }
  }

  private final func collect(
    _ value: Value, of composite: CompositeAttributeDescription, into changes: inout [(AttributeDescription, Value)]
  ) throws {
    let values: [String: Value]
    switch value {
    case .null: values = [:]
    case .composite(let given): values = given
    default:
      throw ManagedObjectError.wrongType(
        entity: entity.name, property: composite.name, expected: AttributeType.composite.rawValue, found: value.typeName
      )
    }
    let names = Set(composite.elements.map(\.name))
    if let unknown = values.keys.filter({ !names.contains($0) }).min() {
      throw ManagedObjectError.unknownProperty(entity: entity.name, name: "\(composite.name).\(unknown)")
    }
    for (name, element) in composite.elements {
      let value = values[name] ?? .null
      switch element {
      case .composite(let inner): try collect(value, of: inner, into: &changes)
      case .attribute(let attribute):
        let value = value.exactly(as: attribute.type)
        guard value.fits(attribute.type) else {
          throw ManagedObjectError.wrongType(
            entity: entity.name, property: attribute.name, expected: attribute.type.rawValue, found: value.typeName)
        }
        changes.append((attribute, value))
      }
    }
  }
}

extension ManagedObject {
  /// The inherited ``validateValue(_:forKey:)``.
  final func checkRules(for value: Value, _ key: String) throws {
    confinement.check()
    let context = confinement.context
    // The usual case in a save: its key needn't be looked up.
    if let context, context.callbacks.isAsking(for: key) { return }
    guard let property = entity.propertiesByName[key] else {
      throw ManagedObjectError.unknownProperty(entity: entity.name, name: key)
    }
    if context?.callbacks.isCollectingFailures == true { return }
    if isUnfilled { context?.fulfill(self) }
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
