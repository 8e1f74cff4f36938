extension ManagedObject {
  /// Whether the object has values to save: not when it was changed and changed back, and not for transient attributes.
  /// Source: `hasPersistentChangedValues` of Core Data.
  public final var hasPersistentChangedValues: Bool {
    confinement.check()
    switch state {
    case .inserted, .deleted: return true
    case .updated: return hasPersistentChanges
    case .clean, .detached: return false
    }
  }

  /// What the object's values are in: 0 when they have been read, something else for a fault.
  /// Source: `faultingState` of Core Data.
  public final var faultingState: Int { isUnfilled ? 1 : 0 }

  /// The values of properties as they were read or saved last, of those named or of all; none of a new object.
  /// Source: `committedValues(forKeys:)` of Core Data.
  public final func committedValues(forKeys keys: [String]?) -> [String: Value] {
    confinement.check()
    if isUnfilled { confinement.context?.fulfill(self) }
    guard state != .inserted else { return [:] }
    var values: [String: Value] = [:]
    for property in entity.properties where keys?.contains(property.name) ?? true {
      if let relationship = property as? RelationshipDescription, relationship.isToMany {
        _ = resolvedIDs(relationship)
      }
      values[property.name] = committed.isEmpty ? slots[property.slot] : committed[property.slot]
    }
    return values
  }

  /// The properties changed since the last did-change notification, with the values they had then; of a new object those
  /// that differ from the model's defaults. Transient properties, and sets that hadn't been read then, aren't among them.
  /// Source: `changedValuesForCurrentEvent()` of Core Data.
  public final func changedValuesForCurrentEvent() -> [String: Value] {
    confinement.check()
    guard isChangePending, !isUnfilled, let context = confinement.context else { return [:] }
    let former = context.notifier.formerValues(of: self) ?? entity.initialValues
    guard !former.isEmpty else { return [:] }
    var values: [String: Value] = [:]
    for property in entity.properties where !property.isTransient && former[property.slot] != .unresolved {
      if former[property.slot] != slots[property.slot] { values[property.name] = former[property.slot] }
    }
    return values
  }

  /// Whether the objects of a relationship haven't been read yet; false for a name that isn't a relationship's. Reads
  /// nothing. Source: `hasFault(forRelationshipNamed:)` of Core Data.
  public final func hasFault(forRelationshipNamed key: String) -> Bool {
    confinement.check()
    guard let relationship = entity.propertiesByName[key] as? RelationshipDescription else { return false }
    if isUnfilled { return true }
    return relationship.isToMany && slots[relationship.slot] == .unresolved
  }

  /// The IDs of the objects that a relationship holds, in its order if it has one, without making objects of them; none for a name that isn't a
  /// relationship's. Source: `objectIDs(forRelationshipNamed:)` of Core Data.
  public final func objectIDs(forRelationshipNamed key: String) -> [ManagedObjectID] {
    confinement.check()
    switch value(forKey: key) {
    case .object(let id): return [id]
    case .objects(let ids): return Array(ids)
    case .orderedObjects(let ids): return Array(ids)
    default: return []
    }
  }

  /// Reads a fault's values, as touching a property does. Source: `willAccessValue(forKey:)` of Core Data.
  public final func willAccessValue(forKey key: String?) {
    confinement.check()
    if isUnfilled { confinement.context?.fulfill(self) }
  }

  /// The value of the property called `key` as it stands, without filling a fault or reading a set: nil then, and when
  /// the entity has no such property. Source: `primitiveValue(forKey:)` of Core Data.
  public final func primitiveValue(forKey key: String) -> Value? {
    confinement.check()
    guard let property = entity.propertiesByName[key], !isUnfilled, slots[property.slot] != .unresolved else {
      return nil
    }
    return slots[property.slot]
  }

  /// Sets the attribute called `key` without a change being noted: nobody is told, nothing can be undone, and a save
  /// writes it only with other changes of the object. For transient attributes, and for what an awakening sets.
  ///
  /// Relationships are refused, for their inverses would be wrong. Source: `setPrimitiveValue(_:forKey:)` of Core Data.
  /// - Throws: ``ManagedObjectError/unknownProperty(entity:name:)`` when it isn't an attribute's name, or
  ///   ``ManagedObjectError/wrongType(entity:property:expected:found:)``.
  public final func setPrimitiveValue(_ value: Value, forKey key: String) throws {
    confinement.check()
    guard let attribute = entity.propertiesByName[key] as? AttributeDescription else {
      throw ManagedObjectError.unknownProperty(entity: entity.name, name: key)
    }
    guard value.fits(attribute.type) else {
      throw ManagedObjectError.wrongType(
        entity: entity.name, property: key, expected: attribute.type.rawValue, found: value.typeName)
    }
    if isUnfilled { confinement.context?.fulfill(self) }
    guard slots[attribute.slot] != value else { return }
    // What the store has is kept: a later change is compared with that.
    if state == .clean, committed.isEmpty, !attribute.isTransient { committed = slots }
    slots[attribute.slot] = value
  }
}
