/// What differs between two versions of a model, and what becomes of the data of a store that is migrated from one to the other
/// without a mapping model. Transient properties, which aren't stored, are left out.
package struct ModelVersionDifference: Sendable, Equatable {
  /// What is different about an entity or a property.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case added, removed, renamed, changed
  }

  /// What becomes of the stored data.
  package enum Effect: String, Sendable, Hashable, CaseIterable {
    /// It stays as it is.
    case kept
    /// It is written in another form.
    case converted
    /// There is none yet.
    case empty
    /// Every object gets the default value.
    case filled
    case lost
    /// The migration is refused because of it.
    case refused
  }

  package struct Change: Sendable, Hashable {
    package let kind: Kind
    /// In the newer version; of what is removed, in the older one.
    package let entity: String
    /// Nil for the entity itself.
    package let property: String?
    /// The older name, or what it was: `Integer 32, optional`.
    package let old: String?
    package let new: String?
    package let effect: Effect
  }

  package private(set) var changes: [Change] = []
  /// What keeps a store from being migrated; empty where it can be.
  package let obstacles: [MigrationObstacle]
  /// Data that nothing of the newer version takes over.
  package let losses: [MigrationObstacle]

  package init(from source: ManagedObjectModel, to destination: ManagedObjectModel) {
    var inference = MappingInference(from: source.entities, to: destination.entities)
    let mappings = inference.run()
    obstacles = inference.obstacles
    losses = MappingModel(from: source, to: destination, entityMappings: mappings).losses
    for mapping in mappings {
      let old = mapping.sourceEntityName.flatMap { source.entitiesByName[$0] }
      let new = mapping.destinationEntityName.flatMap { destination.entitiesByName[$0] }
      switch (old, new) {
      case (nil, let new?): add(.added, new.name, new: Self.words(new), .empty)
      case (let old?, nil):
        add(.removed, old.name, old: Self.words(old), losses.contains { $0.entity == old.name } ? .lost : .kept)
      case (let old?, let new?) where mapping.mappingType != .copy:
        compare(old, new, inference)
        addRemoved(
          old, new, taken: Set((mapping.attributeMappings + mapping.relationshipMappings).compactMap(\.sourceName)))
      default: break
      }
    }
  }

  private mutating func add(
    _ kind: Kind, _ entity: String, _ property: String? = nil, old: String? = nil, new: String? = nil, _ effect: Effect
  ) {
    let isRefused = obstacles.contains { $0.entity == entity && $0.property == property }
    changes.append(
      Change(
        kind: kind, entity: entity, property: property, old: old, new: new, effect: isRefused ? .refused : effect))
  }

  private mutating func compare(_ old: EntityDescription, _ new: EntityDescription, _ inference: MappingInference) {
    if old.name != new.name { add(.renamed, new.name, old: old.name, new: new.name, .kept) }
    if Self.words(old) != Self.words(new) {
      add(.changed, new.name, old: Self.words(old), new: Self.words(new), .kept)
    }
    // An inherited property belongs to the entity that declares it.
    for property in new.properties where property.entity === new && !property.isTransient {
      guard let origin = Self.origin(of: property, in: new, inference) else {
        add(.added, new.name, property.name, new: Self.words(property), Self.effect(ofNew: property))
        continue
      }
      if origin.name != property.name {
        add(.renamed, new.name, property.name, old: origin.name, new: property.name, .kept)
      }
      if Self.words(origin) != Self.words(property) {
        add(
          .changed, new.name, property.name, old: Self.words(origin), new: Self.words(property),
          Self.effect(of: property, was: origin))
      }
    }
  }

  private mutating func addRemoved(_ old: EntityDescription, _ new: EntityDescription, taken: Set<String>) {
    for property in old.properties
    where property.entity === old && !property.isTransient && !taken.contains(property.name) {
      let isLost = losses.contains { $0.entity == old.name && $0.property == property.name }
      add(.removed, new.name, property.name, old: Self.words(property), isLost ? .lost : .kept)
    }
  }

  private static func origin(
    of property: PropertyDescription, in entity: EntityDescription, _ inference: MappingInference
  ) -> PropertyDescription? {
    switch property {
    case let attribute as AttributeDescription: inference.origin(of: attribute, in: entity)
    case let relationship as RelationshipDescription: inference.origin(of: relationship, in: entity)
    default: nil
    }
  }

  private static func effect(ofNew property: PropertyDescription) -> Effect {
    guard let attribute = property as? AttributeDescription else { return .empty }
    return attribute.isDerived || !attribute.defaultValue.isNull ? .filled : .empty
  }

  private static func effect(of property: PropertyDescription, was origin: PropertyDescription) -> Effect {
    guard let attribute = property as? AttributeDescription, let former = origin as? AttributeDescription else {
      return .kept
    }
    if attribute.type != former.type { return .converted }
    // What is required now gets the default where there was nothing.
    return former.isOptional && !attribute.isOptional ? .filled : .kept
  }

  private static func words(_ entity: EntityDescription) -> String {
    let keys = entity.uniquenessConstraints.map { "unique by " + $0.map(\.name).joined(separator: " and ") }
    return
      ([entity.isAbstract ? "abstract entity" : "entity"] + (entity.superentity.map { ["of " + $0.name] } ?? []) + keys)
      .joined(separator: ", ")
  }

  private static func words(_ property: PropertyDescription) -> String {
    var words: [String] = []
    switch property {
    case let attribute as AttributeDescription:
      words = [attribute.type.rawValue]
      if !attribute.defaultValue.isNull { words.append("default " + attribute.defaultValue.plainText) }
      if let expression = attribute.definition.derivationExpression { words.append("derived from \(expression)") }
    case let relationship as RelationshipDescription:
      words = [(relationship.isToMany ? "many " : "one ") + relationship.destinationEntity.name]
      if relationship.isOrdered { words.append("ordered") }
      if let inverse = relationship.inverseRelationship { words.append("inverse " + inverse.name) }
    default: break
    }
    if property.isOptional { words.append("optional") }
    return words.joined(separator: ", ")
  }
}
