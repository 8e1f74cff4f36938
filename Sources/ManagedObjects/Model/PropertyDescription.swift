/// An attribute or relationship of an entity, in place in its model. Immutable.
public class PropertyDescription: @unchecked Sendable {
  // Sendable: every stored property is written while the model is made, on one thread, and never after.

  /// The property's name.
  public let name: String
  /// Its number in the entity and in all entities that inherit it: the index of its value in an object's row.
  public let slot: Int
  /// Whether nil is allowed.
  public let isOptional: Bool
  /// Whether it is never stored.
  public let isTransient: Bool
  /// Whether it is an attribute that the store derives from others on a save.
  public let isDerived: Bool
  /// The name it had in an earlier version, for migration.
  public let renamingIdentifier: String?
  /// Whatever the model's author noted; the import's keys stand here.
  public let userInfo: [String: String]
  /// The entity that declares it.
  public internal(set) unowned(unsafe) var entity: EntityDescription

  init(
    name: String, slot: Int, isOptional: Bool, isTransient: Bool, renamingIdentifier: String?,
    userInfo: [String: String], entity: EntityDescription, isDerived: Bool = false
  ) {
    self.name = name
    self.slot = slot
    self.isOptional = isOptional
    self.isTransient = isTransient
    self.isDerived = isDerived
    self.renamingIdentifier = renamingIdentifier
    self.userInfo = userInfo
    self.entity = entity
  }
}

/// An attribute, in place in its model. Source: Core Data's `NSAttributeDescription`.
public final class AttributeDescription: PropertyDescription, @unchecked Sendable {
  /// What the model says of it.
  public let definition: AttributeDefinition
  /// Its type.
  public var type: AttributeType { definition.type }
  /// The value a new object starts with.
  public var defaultValue: Value { definition.defaultValue }

  init(_ definition: AttributeDefinition, slot: Int, entity: EntityDescription) {
    self.definition = definition
    super.init(
      name: definition.name, slot: slot, isOptional: definition.isOptional, isTransient: definition.isTransient,
      renamingIdentifier: definition.renamingIdentifier, userInfo: definition.userInfo, entity: entity,
      isDerived: definition.derivationExpression != nil)
  }
}

/// A relationship, in place in its model. Source: Core Data's `NSRelationshipDescription`.
public final class RelationshipDescription: PropertyDescription, @unchecked Sendable {
  /// What the model says of it.
  public let definition: RelationshipDefinition
  /// Where it leads.
  public internal(set) unowned(unsafe) var destinationEntity: EntityDescription
  /// The relationship that leads back.
  public internal(set) unowned(unsafe) var inverseRelationship: RelationshipDescription?
  /// Whether it holds a set and not one object.
  public var isToMany: Bool { definition.isToMany }
  /// Whether the set has an order.
  public var isOrdered: Bool { definition.isOrdered }
  /// What happens to the other end on deletion.
  public var deleteRule: DeleteRule { definition.deleteRule }
  /// Whether both ends hold sets, or this end holds a set that nothing leads back from: the pairs have a table of
  /// their own then.
  public var isManyToMany: Bool { isToMany && (inverseRelationship?.isToMany ?? true) }
  /// Whether a store knows nothing of what it holds: it is transient, or what leads back is.
  package var isUnstored: Bool { isTransient || inverseRelationship?.isTransient == true }

  init(_ definition: RelationshipDefinition, slot: Int, entity: EntityDescription) {
    self.definition = definition
    self.destinationEntity = entity
    super.init(
      name: definition.name, slot: slot, isOptional: definition.isOptional, isTransient: definition.isTransient,
      renamingIdentifier: definition.renamingIdentifier, userInfo: definition.userInfo, entity: entity)
  }
}
