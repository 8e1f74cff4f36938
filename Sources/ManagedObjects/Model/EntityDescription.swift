// Entities, their properties, and the assembly that links them are in one file: the assembly alone sets what refers to other
// descriptions, and nothing can change once the model is built.

import Foundation

/// An entity of a model: its properties and their slots. Immutable.
///
/// The order of slots is fixed, so that a class can name them as constants: inherited properties first, then the entity's own
/// attributes, then its own relationships, each in the order of definition. A superentity's slots are therefore a prefix of
/// its subentities'. A composite attribute has no slot; its elements take its place, each as an attribute named like
/// `address.city`, and nested composites expand in place.
///
/// Source: Core Data's `NSEntityDescription`.
public final class EntityDescription: @unchecked Sendable, Hashable {
  // Sendable: every stored property is written while one thread builds the model, and never after. An entity is
  // kept alive by its model; the model and its entities live as long as any object ID or context that refers to them,
  // because ``ManagedObjectModel`` is never freed (see there).

  /// The definition in the model.
  public let definition: EntityDefinition
  /// The entity's name, unique in its model.
  public var name: String { definition.name }
  /// Whether it is abstract.
  public var isAbstract: Bool { definition.isAbstract }
  /// The author's annotations.
  public var userInfo: [String: String] { definition.userInfo }
  /// The entity it inherits from.
  public fileprivate(set) var superentity: EntityDescription?
  /// The direct subentities.
  public fileprivate(set) var subentities: [EntityDescription] = []
  /// The root of its hierarchy: itself if it has no superentity. Unowned, because it may be the entity itself; an entity
  /// of a model is never freed, and one made by ``ofColumns(_:_:)`` is its own root.
  public fileprivate(set) unowned(unsafe) var rootEntity: EntityDescription!
  /// Every property including inherited ones, indexed by slot.
  public fileprivate(set) var properties: [PropertyDescription] = []
  /// Every property including inherited ones, by name.
  public fileprivate(set) var propertiesByName: [String: PropertyDescription] = [:]
  /// The composite attributes by name, including inherited and nested ones (`address.position`). They aren't among the
  /// properties; their elements are.
  public fileprivate(set) var compositeAttributesByName: [String: CompositeAttributeDescription] = [:]
  /// Every attribute, by slot.
  public fileprivate(set) var attributes: [AttributeDescription] = []
  /// Every relationship, by slot.
  public fileprivate(set) var relationships: [RelationshipDescription] = []
  /// Groups of attributes whose combined values are unique, including inherited ones.
  public fileprivate(set) var uniquenessConstraints: [[AttributeDescription]] = []
  /// The indexes, including inherited ones.
  public fileprivate(set) var indexes: [FetchIndexDefinition] = []
  /// The attribute that serves as the table's primary key: `primaryKey` in the entity's `userInfo`.
  ///
  /// An addition to Core Data: a mandatory integer attribute can itself number the objects. Its value is then the object ID's
  /// number, can't change once the object is saved, and is the table's `INTEGER PRIMARY KEY`, without a second column or
  /// index.
  public fileprivate(set) var primaryKey: AttributeDescription?
  /// The relationships of any entity that may refer to an object of this one, in the model's order.
  package fileprivate(set) var references: [RelationshipDescription] = []
  /// Those of them that no delete rule clears: without an inverse, or with the rule `noAction`.
  package fileprivate(set) var looseReferences: [RelationshipDescription] = []
  /// The derivations of its derived attributes.
  package fileprivate(set) var derivations: [Derivation] = []
  /// The derived attributes, here or elsewhere, that depend on its rows.
  fileprivate(set) var derivationTriggers: [DerivationTrigger] = []
  /// Whether its rows have derived values or are the source of some.
  package var hasDerivations: Bool { !derivations.isEmpty || !derivationTriggers.isEmpty }
  /// Whether a to-one relationship of its objects determines another object's to-many relationship.
  package fileprivate(set) var joinsSets = false
  /// Whether something may look at the members of its one-to-many sets when they change: a class, or a rule for their number.
  /// True also where that is so only of an entity that inherits from it.
  package fileprivate(set) var checksMembers = false
  /// Whether a to-one relationship of its objects leads to an entity that ``checksMembers``.
  package fileprivate(set) var joinsCheckedSets = false
  /// Its stored ordered to-many relationships.
  package fileprivate(set) var orderedSets: [RelationshipDescription] = []
  /// Its to-one relationships with an ordered inverse, which give rows a position in an order.
  package fileprivate(set) var orderedReferences: [RelationshipDescription] = []
  /// Whether its rows have a position in an order, or an ordered relationship.
  package var hasOrders: Bool { !orderedSets.isEmpty || !orderedReferences.isEmpty }
  /// The row a new object starts with: defaults, and empty sets.
  package fileprivate(set) var initialValues: ContiguousArray<Value> = []
  /// The row of a fault, with nothing read.
  package fileprivate(set) var faultValues: ContiguousArray<Value> = []
  /// The class of its objects.
  package fileprivate(set) var objectClass: ManagedObject.Type = ManagedObject.self {
    didSet {
      hasOwnClass = objectClass != ManagedObject.self
      validatesValues = hasOwnClass && objectClass.validatesValues
    }
  }
  /// Whether its class overrides life-cycle methods; those of other classes are never called.
  package private(set) var hasOwnClass = false
  /// Whether its class validates each value before a save.
  private(set) var validatesValues = false
  /// A number for each entity of the model.
  package fileprivate(set) var index: Int = 0
  /// The validation rules for a row.
  package fileprivate(set) var validationRules: ValidationRules!
  /// The numbers of the entity and all its descendants.
  package fileprivate(set) var family: Set<Int> = []

  fileprivate init(_ definition: EntityDefinition) { self.definition = definition }

  /// An entity outside any model whose attributes are the columns of a result, so that conditions and sorts over columns are
  /// bound and evaluated like those over objects. Its attributes refer to it unowned: who keeps them must retain it too.
  ///
  /// - Parameter otherNames: further names of columns, by their places, for names that no column has.
  static func ofColumns(
    _ name: String, _ columns: [AttributeDefinition] = [], otherNames: [(name: String, place: Int)] = []
  ) -> EntityDescription {
    let entity = EntityDescription(EntityDefinition(name, attributes: columns))
    entity.rootEntity = entity
    for (slot, column) in columns.enumerated() {
      let attribute = AttributeDescription(column, slot: slot, entity: entity)
      entity.properties.append(attribute)
      entity.attributes.append(attribute)
      entity.propertiesByName[column.name] = attribute
    }
    for (name, place) in otherNames where entity.propertiesByName[name] == nil {
      entity.propertiesByName[name] = entity.properties[place]
    }
    return entity
  }

  /// Lets go of everything that refers to entities, among them this one, so that all of a model's can be freed.
  func letGo() {
    superentity = nil
    subentities = []
    properties = []
    propertiesByName = [:]
    compositeAttributesByName = [:]
    attributes = []
    relationships = []
    (references, looseReferences, orderedSets, orderedReferences) = ([], [], [], [])
    (derivations, derivationTriggers) = ([], [])
    validationRules = nil
  }

  /// Registers a derivation of one of its derived attributes, while the model is built.
  func register(_ derivation: Derivation) { derivations.append(derivation) }

  /// Registers a derived attribute that depends on its rows, while the model is built.
  func register(_ trigger: DerivationTrigger) { derivationTriggers.append(trigger) }

  /// The attributes by name, including inherited ones.
  public var attributesByName: [String: AttributeDescription] {
    Dictionary(uniqueKeysWithValues: attributes.map { ($0.name, $0) })
  }

  /// The relationships by name, including inherited ones.
  public var relationshipsByName: [String: RelationshipDescription] {
    Dictionary(uniqueKeysWithValues: relationships.map { ($0.name, $0) })
  }

  /// The property's slot, nil if there is no such property.
  public func slot(of name: String) -> Int? { propertiesByName[name]?.slot }

  /// Whether it is `other` or inherits from it.
  public func isKindOf(_ other: EntityDescription) -> Bool {
    other.family.contains(index) && other.rootEntity === rootEntity
  }

  /// The entity and all its descendants, in the model's order.
  public var selfAndDescendants: [EntityDescription] { [self] + subentities.flatMap(\.selfAndDescendants) }

  /// Whether both are the same entity of the same model.
  public static func == (a: EntityDescription, b: EntityDescription) -> Bool { a === b }
  /// Hashes the entity's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

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
  /// The entity that declares it. Unowned, which is safe because models are never freed; see ``ManagedObjectModel``.
  public unowned(unsafe) let entity: EntityDescription

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
  /// The destination entity. Unowned, like ``PropertyDescription/entity``.
  public fileprivate(set) unowned(unsafe) var destinationEntity: EntityDescription
  /// The inverse relationship. Unowned, like ``PropertyDescription/entity``.
  public fileprivate(set) unowned(unsafe) var inverseRelationship: RelationshipDescription?
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

extension PropertyDescription: Hashable {
  /// Whether both are the same property of the same model.
  public static func == (a: PropertyDescription, b: PropertyDescription) -> Bool { a === b }
  /// Hashes the property's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Turns definitions into descriptions: first the hierarchy, then slots, relationships and their inverses, then everything
/// derived from these. It collects every problem, so that the author sees all of them at once.
struct ModelAssembly {
  /// The levels of a hierarchy of entities: each is a level of recursion.
  static let depthLimit = 100

  private let definitions: [EntityDefinition]
  private let classes: [String: ManagedObject.Type]
  private var entities: [String: EntityDescription] = [:]
  private var problems: [String] = []

  init(_ definitions: [EntityDefinition], classes: [String: ManagedObject.Type]) {
    self.definitions = definitions
    self.classes = classes
  }

  mutating func assemble() throws(ModelError) -> [EntityDescription] {
    do throws(ModelError) {
      return try assembleAll()
    } catch {
      for entity in entities.values { entity.letGo() }
      throw error
    }
  }

  private mutating func assembleAll() throws(ModelError) -> [EntityDescription] {
    for definition in definitions {
      if entities[definition.name] != nil { problems.append("entity \(definition.name) is defined twice") }
      entities[definition.name] = EntityDescription(definition)
    }
    let ordered = linkHierarchy()
    guard problems.isEmpty else { throw ModelError.inconsistent(problems) }
    for entity in ordered { numberProperties(of: entity) }
    for entity in ordered { linkRelationships(of: entity) }
    for entity in ordered { deriveConstraints(of: entity) }
    for entity in ordered { noteReferences(of: entity) }
    for entity in ordered { noteOrders(of: entity) }
    guard problems.isEmpty else { throw ModelError.inconsistent(problems) }
    problems += DerivationAssembly(ordered).problems
    for entity in ordered { entity.validationRules = ValidationRules(entity) }
    for entity in ordered {
      entity.checksMembers = entity.selfAndDescendants.contains { $0.hasOwnClass || !$0.validationRules.hasNoSets }
    }
    for entity in ordered {
      entity.joinsCheckedSets = entity.relationships.contains { reference in
        guard !reference.isToMany, let set = reference.inverseRelationship else { return false }
        return set.isToMany && set.entity.checksMembers
      }
      entity.faultValues = ContiguousArray(repeating: .unresolved, count: entity.properties.count)
    }
    guard problems.isEmpty else { throw ModelError.inconsistent(problems) }
    return definitions.compactMap { entities[$0.name] }
  }

  /// Links parents and children. Returns the entities with each parent before its children.
  private mutating func linkHierarchy() -> [EntityDescription] {
    var ordered: [EntityDescription] = []
    for (index, definition) in definitions.enumerated() {
      guard let entity = entities[definition.name] else { continue }
      entity.index = index
      entity.objectClass =
        classes[definition.name] ?? definition.className.flatMap { classes[$0] } ?? ManagedObject.self
      guard let parent = definition.parent else { continue }
      guard let above = entities[parent] else {
        problems.append("entity \(definition.name) inherits from \(parent), which isn't in the model")
        continue
      }
      entity.superentity = above
      above.subentities.append(entity)
    }
    for definition in definitions {
      guard let entity = entities[definition.name] else { continue }
      var seen: Set<String> = [entity.name]
      var top = entity
      while let above = top.superentity {
        guard seen.insert(above.name).inserted else {
          problems.append("entity \(entity.name) inherits from itself")
          return []
        }
        guard seen.count <= Self.depthLimit else {
          problems.append("entity \(entity.name) inherits from \(Self.depthLimit) entities or more: make fewer levels")
          return []
        }
        top = above
      }
      entity.rootEntity = top
      if top === entity { ordered.append(contentsOf: entity.selfAndDescendants) }
    }
    for entity in ordered { entity.family = Set(entity.selfAndDescendants.map(\.index)) }
    return ordered
  }

  private mutating func numberProperties(of entity: EntityDescription) {
    if let above = entity.superentity {
      entity.properties = above.properties
      entity.propertiesByName = above.propertiesByName
      entity.attributes = above.attributes
      entity.compositeAttributesByName = above.compositeAttributesByName
      entity.relationships = above.relationships
      entity.initialValues = above.initialValues
    }
    for definition in entity.definition.attributes { _ = number(definition, of: entity) }
    for definition in entity.definition.relationships {
      let relationship = RelationshipDescription(definition, slot: entity.properties.count, entity: entity)
      add(relationship, to: entity)
      entity.relationships.append(relationship)
      entity.initialValues.append(relationship.emptyValue)
    }
  }

  /// Assigns an attribute its slot, or a composite's elements theirs.
  private mutating func number(
    _ definition: AttributeDefinition, of entity: EntityDescription
  ) -> CompositeAttributeDescription.Element {
    guard definition.type == .composite, !definition.compositeElements.isEmpty else {
      let attribute = AttributeDescription(definition, slot: entity.properties.count, entity: entity)
      add(attribute, to: entity)
      entity.attributes.append(attribute)
      entity.initialValues.append(definition.defaultValue)
      return .attribute(attribute)
    }
    let elements = definition.compositeElements.map { element in
      (name: element.name, element: number(element.inside(definition), of: entity))
    }
    let composite = CompositeAttributeDescription(
      definition, name: definition.name, isOptional: definition.isOptional, elements: elements)
    if entity.propertiesByName[composite.name] != nil || entity.compositeAttributesByName[composite.name] != nil {
      problems.append("\(entity.name).\(composite.name) is defined twice")
    }
    entity.compositeAttributesByName[composite.name] = composite
    return .composite(composite)
  }

  private mutating func add(_ property: PropertyDescription, to entity: EntityDescription) {
    if entity.propertiesByName[property.name] != nil || entity.compositeAttributesByName[property.name] != nil {
      problems.append("\(entity.name).\(property.name) is defined twice")
    }
    entity.properties.append(property)
    entity.propertiesByName[property.name] = property
  }

  private mutating func linkRelationships(of entity: EntityDescription) {
    for relationship in entity.relationships where relationship.entity === entity {
      let name = "\(entity.name).\(relationship.name)"
      guard let destination = entities[relationship.definition.destination] else {
        problems.append("\(name) leads to \(relationship.definition.destination), which isn't in the model")
        continue
      }
      relationship.destinationEntity = destination
      guard let inverseName = relationship.definition.inverse else { continue }
      guard let inverse = destination.propertiesByName[inverseName] as? RelationshipDescription else {
        problems.append("\(name) has the inverse \(destination.name).\(inverseName), which doesn't exist")
        continue
      }
      guard entities[inverse.definition.destination].map({ entity.isKindOf($0) || $0.isKindOf(entity) }) == true else {
        problems.append(
          "\(name) has the inverse \(destination.name).\(inverseName), which leads to \(inverse.definition.destination)"
        )
        continue
      }
      relationship.inverseRelationship = inverse
    }
  }

  /// Registers the entity's own relationships with their destinations.
  private func noteReferences(of entity: EntityDescription) {
    for relationship in entity.relationships where relationship.entity === entity {
      if relationship.isManyToMany ? relationship.isUnstored : relationship.isTransient { continue }
      let destination = relationship.destinationEntity
      let isLoose = relationship.inverseRelationship.map { $0.deleteRule == .noAction } ?? true
      for target in destination.rootEntity.selfAndDescendants
      where target.isKindOf(destination) || destination.isKindOf(target) {
        target.references.append(relationship)
        if isLoose { target.looseReferences.append(relationship) }
      }
    }
  }

  private func noteOrders(of entity: EntityDescription) {
    let stored = entity.relationships.filter { !$0.isUnstored }
    entity.orderedSets = stored.filter { $0.isToMany && $0.isOrdered }
    entity.joinsSets = entity.relationships.contains { $0.inverseRelationship?.isToMany == true }
    entity.orderedReferences = stored.filter { reference in
      guard !reference.isToMany, let inverse = reference.inverseRelationship else { return false }
      return inverse.isToMany && inverse.isOrdered
    }
  }

  private mutating func deriveConstraints(of entity: EntityDescription) {
    entity.uniquenessConstraints = entity.superentity?.uniquenessConstraints ?? []
    entity.indexes = (entity.superentity?.indexes ?? []) + entity.definition.indexes
    entity.primaryKey = entity.superentity?.primaryKey
    for attribute in entity.attributes where attribute.entity === entity {
      for predicate in attribute.definition.validationPredicates {
        do {
          _ = try PredicateRule(predicate, of: attribute)
        } catch {
          problems.append(
            "\(entity.name).\(attribute.name)'s validation predicate \(predicate.predicateFormat): \(error)")
        }
      }
      guard let pattern = attribute.definition.regularExpression else { continue }
      do {
        _ = try NSRegularExpression(pattern: pattern)
      } catch {
        problems.append("\(entity.name).\(attribute.name)'s pattern \(pattern) isn't a regular expression")
      }
    }
    if let name = entity.definition.userInfo["primaryKey"], entity.superentity == nil {
      if let key = entity.propertiesByName[name] as? AttributeDescription, key.type.isInteger, !key.isOptional {
        entity.primaryKey = key
        entity.uniquenessConstraints.append([key])
      } else {
        problems.append("\(entity.name)'s primaryKey \(name) must be an integer attribute of it that isn't optional")
      }
    }
    for group in entity.definition.uniquenessConstraints {
      let names = group.flatMap { entity.compositeAttributesByName[$0]?.attributes.map(\.name) ?? [$0] }
      let attributes = names.compactMap { entity.propertiesByName[$0] as? AttributeDescription }
      guard attributes.count == names.count, !names.isEmpty else {
        problems.append(
          "\(entity.name)'s uniqueness constraint on \(names.joined(separator: ", ")) names no attribute of it")
        continue
      }
      if !entity.uniquenessConstraints.contains(attributes) { entity.uniquenessConstraints.append(attributes) }
    }
  }
}

extension AttributeDefinition {
  /// An element as an attribute of its own, with the composite's name as prefix; optional if the composite is.
  fileprivate func inside(_ composite: AttributeDefinition) -> AttributeDefinition {
    var element = self
    element.name = composite.name + "." + name
    element.isOptional = isOptional || composite.isOptional
    element.isTransient = isTransient || composite.isTransient
    if renamingIdentifier != nil || composite.renamingIdentifier != nil {
      element.renamingIdentifier = (composite.renamingIdentifier ?? composite.name) + "." + (renamingIdentifier ?? name)
    }
    return element
  }
}
