extension ManagedObject {
  /// Whether stored values of the object differ from those that were read or saved, or members of its one-to-many sets have
  /// changed: not when it was changed and changed back, and not for transient attributes. Always for a new object; for one that
  /// is to be deleted if it was changed before.
  /// Source: `hasPersistentChangedValues` of Core Data.
  public final var hasPersistentChangedValues: Bool {
    confinement.check()
    switch state {
    case .inserted: return true
    case .deleted: return hasPersistentChanges
    case .updated: return hasPersistentChanges || confinement.context?.changeSet.changedSets(of: self).isEmpty == false
    case .clean, .detached: return false
    }
  }

  /// 0 when the object's values have been read, another number for a fault.
  /// Source: `faultingState` of Core Data.
  public final var faultingState: Int { isFault ? 1 : 0 }

  /// The values of the named properties, or of all, as they were last read or saved; empty for a new object.
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

  /// The properties that have changed since the last did-change notification, with their former values; for a new object, those
  /// that differ from the model's defaults. Transient properties are left out, as are sets that hadn't been read.
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
    return relationship.isToMany && content[relationship.slot] == .unresolved
  }

  /// The IDs of the objects that a relationship holds, in its order if it has one, without making objects; empty for a name
  /// that isn't a relationship's. Source: `objectIDs(forRelationshipNamed:)` of Core Data.
  public final func objectIDs(forRelationshipNamed key: String) -> [ManagedObjectID] {
    confinement.check()
    switch value(forKey: key) {
    case .object(let id): return [id]
    case .objects(let ids): return Array(ids)
    case .orderedObjects(let ids): return Array(ids)
    default: return []
    }
  }

  /// Reads a fault's values, as accessing a property does. Source: `willAccessValue(forKey:)` of Core Data.
  public final func willAccessValue(forKey key: String?) {
    confinement.check()
    if isUnfilled { confinement.context?.fulfill(self) }
  }

  /// The value of the property called `key` as it stands, without filling a fault or reading a set: nil then, and when
  /// the entity has no such property. Source: `primitiveValue(forKey:)` of Core Data.
  public final func primitiveValue(forKey key: String) -> Value? {
    confinement.check()
    guard let property = entity.propertiesByName[key], !isUnfilled, content[property.slot] != .unresolved else {
      return nil
    }
    return content[property.slot]
  }

  /// Sets the property called `key` without recording a change: it isn't announced, can't be undone, and a save writes it only
  /// with other changes of the object. For transient attributes, and for use in `awake` methods.
  ///
  /// Of a relationship this sets one end only; the caller sets the inverse as well.
  /// Source: `setPrimitiveValue(_:forKey:)` of Core Data.
  /// - Throws: ``ManagedObjectError/unknownProperty(entity:name:)`` or
  ///   ``ManagedObjectError/wrongType(entity:property:expected:found:)``.
  public final func setPrimitiveValue(_ value: Value, forKey key: String) throws {
    confinement.check()
    guard let property = entity.propertiesByName[key] else {
      throw ManagedObjectError.unknownProperty(entity: entity.name, name: key)
    }
    let new = try primitive(value, for: property)
    if isUnfilled { confinement.context?.fulfill(self) }
    guard content[property.slot] != new else { return }
    // The stored values are kept, because a later change is compared with them.
    if state == .clean, committed.isEmpty, !property.isTransient { committed = slots }
    slots[property.slot] = new
  }

  private final func primitive(_ value: Value, for property: PropertyDescription) throws -> Value {
    if let attribute = property as? AttributeDescription {
      let value = value.exactly(as: attribute.type)
      guard !value.fits(attribute.type) else { return value }
      throw ManagedObjectError.wrongType(
        entity: entity.name, property: attribute.name, expected: attribute.type.rawValue, found: value.typeName)
    }
    guard let relationship = property as? RelationshipDescription else { return value }
    return try relationship.content(value, of: entity)
  }
}
