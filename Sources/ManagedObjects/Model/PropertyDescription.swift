/// An attribute or relationship of an entity. Immutable.
public class PropertyDescription: @unchecked Sendable {
  // Sendable: every stored property is written while one thread builds the model, and never after.

  /// The property's name.
  public let name: String
  /// The index of its value in an object's row, the same in the entity and all its descendants.
  public let slot: Int
  /// Whether nil is allowed.
  public let isOptional: Bool
  /// Whether it is never stored.
  public let isTransient: Bool
  /// Whether the store derives it from other properties on save.
  public let isDerived: Bool
  /// The name it had in an earlier version, for migration.
  public let renamingIdentifier: String?
  /// The author's annotations, among them the keys for imports.
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

/// An attribute. Source: Core Data's `NSAttributeDescription`.
public final class AttributeDescription: PropertyDescription, @unchecked Sendable {
  /// The definition in the model.
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

/// A relationship. Source: Core Data's `NSRelationshipDescription`.
public final class RelationshipDescription: PropertyDescription, @unchecked Sendable {
  /// The definition in the model.
  public let definition: RelationshipDefinition
  /// The destination entity.
  public internal(set) unowned(unsafe) var destinationEntity: EntityDescription
  /// The inverse relationship.
  public internal(set) unowned(unsafe) var inverseRelationship: RelationshipDescription?
  /// Whether it is a to-many relationship.
  public var isToMany: Bool { definition.isToMany }
  /// Whether it is an ordered to-many relationship.
  public var isOrdered: Bool { definition.isOrdered }
  /// What deletion does to the other end.
  public var deleteRule: DeleteRule { definition.deleteRule }
  /// Whether the pairs need a table of their own: both ends are to-many, or this one is and has no inverse.
  public var isManyToMany: Bool { isToMany && (inverseRelationship?.isToMany ?? true) }
  /// Whether no store keeps it: it or its inverse is transient.
  package var isUnstored: Bool { isTransient || inverseRelationship?.isTransient == true }

  init(_ definition: RelationshipDefinition, slot: Int, entity: EntityDescription) {
    self.definition = definition
    self.destinationEntity = entity
    super.init(
      name: definition.name, slot: slot, isOptional: definition.isOptional, isTransient: definition.isTransient,
      renamingIdentifier: definition.renamingIdentifier, userInfo: definition.userInfo, entity: entity)
  }
}
