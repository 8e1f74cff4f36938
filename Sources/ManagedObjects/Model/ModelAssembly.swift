import Foundation

/// Turns definitions into descriptions: first the hierarchy, then slots, relationships and their inverses, then everything
/// derived from these. It collects every problem, so that the author sees all of them at once.
struct ModelAssembly {
  private let definitions: [EntityDefinition]
  private let classes: [String: ManagedObject.Type]
  private var entities: [String: EntityDescription] = [:]
  private var problems: [String] = []

  init(_ definitions: [EntityDefinition], classes: [String: ManagedObject.Type]) {
    self.definitions = definitions
    self.classes = classes
  }

  mutating func assemble() throws -> [EntityDescription] {
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

extension PropertyDescription: Hashable {
  /// Whether both are the same property of the same model.
  public static func == (a: PropertyDescription, b: PropertyDescription) -> Bool { a === b }
  /// Hashes the property's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
