/// Infers the mapping between two models, and finds every obstacle.
struct MappingInference {
  let sourceEntities: [EntityDescription]
  let destinationEntities: [EntityDescription]
  /// The old entity of each new one, by name.
  private(set) var origins: [String: EntityDescription] = [:]
  /// The new entity of each old one, by name.
  private(set) var images: [String: EntityDescription] = [:]
  var obstacles: [MigrationObstacle] = []
  /// The old names of properties, by the new entity's name.
  private var matches: [String: RenamingMatch] = [:]

  init(from source: [EntityDescription], to destination: [EntityDescription]) {
    sourceEntities = source
    destinationEntities = destination
    matchEntities()
    for entity in destination {
      guard let origin = origins[entity.name] else { continue }
      matches[entity.name] = Self.match(origin, entity)
    }
  }

  mutating func run() -> [EntityMapping] {
    var mappings: [EntityMapping] = []
    for entity in destinationEntities {
      guard let origin = origins[entity.name] else {
        mappings.append(EntityMapping(nil, .add, from: nil, to: entity))
        continue
      }
      checkPrimaryKey(origin, entity)
      let isSame = origin.name == entity.name && origin.versionHash == entity.versionHash
      mappings.append(
        EntityMapping(
          nil, isSame ? .copy : .transform, from: origin, to: entity,
          attributeMappings: entity.attributes.filter { !$0.isTransient }.map { attributeMapping($0, entity, origin) },
          relationshipMappings: entity.relationships.filter { !$0.isTransient }.map {
            relationshipMapping($0, entity, origin)
          }))
    }
    for entity in sourceEntities where images[entity.name] == nil {
      mappings.append(EntityMapping(nil, .remove, from: entity, to: nil))
    }
    return mappings
  }

  /// The old property of a new entity's property; nil when it is new, or was never stored.
  func origin<T: PropertyDescription>(of property: T, in entity: EntityDescription) -> T? {
    guard let name = matches[entity.name]?.oldNames[property.name] else { return nil }
    let found = origins[entity.name]?.propertiesByName[name] as? T
    return found?.isTransient == false ? found : nil
  }

  // MARK: Matching

  private mutating func matchEntities() {
    var (old, new) = (sourceEntities, destinationEntities)
    func link(_ origin: EntityDescription, _ entity: EntityDescription) {
      origins[entity.name] = origin
      images[origin.name] = entity
    }
    // Versions that a store can't tell apart are the same, whatever their renaming identifiers.
    for entity in destinationEntities {
      guard let same = old.first(where: { $0.name == entity.name && $0.versionHash == entity.versionHash }) else {
        continue
      }
      link(same, entity)
      old.removeAll { $0 === same }
      new.removeAll { $0 === entity }
    }
    let item = { (entity: EntityDescription) in
      RenamingMatch.Item(name: entity.name, identifier: entity.definition.renamingIdentifier)
    }
    let match = RenamingMatch(from: old.map(item), to: new.map(item))
    for entity in new {
      guard let name = match.oldNames[entity.name], let origin = old.first(where: { $0.name == name }) else { continue }
      link(origin, entity)
    }
  }

  private static func match(_ origin: EntityDescription, _ entity: EntityDescription) -> RenamingMatch {
    let isSame = origin.name == entity.name && origin.versionHash == entity.versionHash
    func items(_ entity: EntityDescription) -> [RenamingMatch.Item] {
      entity.properties.map { .init(name: $0.name, identifier: isSame ? nil : $0.renamingIdentifier) }
    }
    return RenamingMatch(from: items(origin), to: items(entity))
  }

  // MARK: Obstacles

  mutating func note(
    _ entity: EntityDescription, _ property: PropertyDescription? = nil, _ problem: String, _ remedy: String
  ) {
    // An inherited property is reported once, for the entity that declares it.
    let obstacle = MigrationObstacle(
      (property?.entity ?? entity).name, property?.name, problem: problem, remedy: remedy)
    if !obstacles.contains(obstacle) { obstacles.append(obstacle) }
  }

  private mutating func checkPrimaryKey(_ origin: EntityDescription, _ entity: EntityDescription) {
    // An existing attribute may become the primary key, or stop being it: the rows have its values.
    guard let key = entity.primaryKey, self.origin(of: key, in: entity) == nil else { return }
    note(
      entity, key, "is to number the objects, and is new, so that they have no value for it",
      "add it as an ordinary attribute first and fill it in, or write an entity migration policy")
  }
}

extension MappingInference {
  mutating func attributeMapping(
    _ attribute: AttributeDescription, _ entity: EntityDescription, _ source: EntityDescription
  ) -> PropertyMapping {
    guard let origin: AttributeDescription = origin(of: attribute, in: entity) else {
      return newAttribute(attribute, entity)
    }
    if attribute.widening(from: origin) == nil {
      note(
        entity, attribute, "is \(attribute.type.rawValue) and was \(origin.type.rawValue)",
        MigrationObstacle.keepType(origin.type))
    }
    guard origin.isOptional, !attribute.isOptional, attribute.definition.derivationExpression == nil else {
      return PropertyMapping(attribute.name, .property(origin.name))
    }
    // A primary key's values are checked row by row.
    if attribute === entity.primaryKey { return PropertyMapping(attribute.name, .property(origin.name)) }
    if attribute.defaultValue.isNull {
      note(entity, attribute, "is required, was optional and has no default", "give it a default value")
    }
    return PropertyMapping(attribute.name, .propertyOrValue(origin.name, attribute.defaultValue))
  }

  private mutating func newAttribute(
    _ attribute: AttributeDescription, _ entity: EntityDescription
  ) -> PropertyMapping {
    if attribute !== entity.primaryKey, !attribute.isOptional, attribute.defaultValue.isNull,
      attribute.definition.derivationExpression == nil
    {
      note(entity, attribute, "is new and required, and has no default", "give it a default value, or make it optional")
    }
    return PropertyMapping(attribute.name, .value(attribute.defaultValue))
  }
}

// A relationship can take over another's pairs unless one of its ends holds fewer objects than before: a to-one end may become
// to-many, never the reverse. An end that is new or wasn't stored follows from the other end.

extension MappingInference {
  mutating func relationshipMapping(
    _ relationship: RelationshipDescription, _ entity: EntityDescription, _ source: EntityDescription
  ) -> PropertyMapping {
    let policy = "give it another name, or write an entity migration policy"
    guard let origin: RelationshipDescription = origin(of: relationship, in: entity) else {
      if !relationship.isOptional, !relationship.isToMany, !isFilledByInverse(relationship) {
        note(entity, relationship, "is new and required, and there is no object for it", "make it optional")
      }
      return PropertyMapping(relationship.name, nil)
    }
    if origin.isToMany, !relationship.isToMany {
      note(entity, relationship, "is to-one and was to-many", policy)
    }
    for former in origin.destinationEntity.selfAndDescendants {
      guard let image = images[former.name] else { continue }
      guard image.isKindOf(relationship.destinationEntity) else {
        note(
          entity, relationship,
          "leads to \(relationship.destinationEntity.name), and led to \(former.name), which is \(image.name) now",
          policy)
        break
      }
      checkInverse(of: relationship, entity, origin, through: image)
    }
    return PropertyMapping(relationship.name, .property(origin.name))
  }

  private mutating func checkInverse(
    of relationship: RelationshipDescription, _ entity: EntityDescription, _ origin: RelationshipDescription,
    through image: EntityDescription
  ) {
    guard let inverse = relationship.inverseRelationship else { return }
    if let former: RelationshipDescription = self.origin(of: inverse, in: image) {
      guard former.name != origin.inverseRelationship?.name else { return }
      note(
        entity, relationship, "has the inverse \(inverse.name), and had \(origin.inverseRelationship?.name ?? "none")",
        "leave the inverse as it was, or write an entity migration policy")
    } else if !inverse.isToMany, origin.inverseRelationship?.isToMany ?? true {
      note(
        entity, relationship, "has an inverse now that holds one object, where several may have pointed to the same",
        "make \(inverse.name) to-many, or write an entity migration policy")
    }
  }

  /// Whether the other end is an old relationship, from which this end follows.
  private func isFilledByInverse(_ relationship: RelationshipDescription) -> Bool {
    guard let inverse = relationship.inverseRelationship else { return false }
    return relationship.destinationEntity.selfAndDescendants.contains { image in
      (origin(of: inverse, in: image) as RelationshipDescription?) != nil
    }
  }
}

/// Matches new names with old ones.
///
/// A renaming identifier is a canonical name that stays the same through several versions, so it is looked up among the old
/// version's identifiers as well as among its names. Source: "Using Lightweight Migration" of Core Data.
struct RenamingMatch {
  /// A name with its renaming identifier.
  struct Item {
    let name: String
    let identifier: String?
  }

  /// Old names by new ones.
  private(set) var oldNames: [String: String] = [:]

  init(from old: [Item], to new: [Item]) {
    var taken: Set<String> = []
    func take(_ item: Item, _ matches: (Item) -> Bool) -> String? {
      guard let found = old.first(where: { matches($0) && !taken.contains($0.name) }) else { return nil }
      taken.insert(found.name)
      return found.name
    }
    for item in new {
      guard let identifier = item.identifier else { continue }
      oldNames[item.name] =
        take(item) { $0.identifier == identifier && $0.name == item.name } ?? take(item) { $0.identifier == identifier }
        ?? take(item) { $0.name == identifier }
    }
    for item in new where oldNames[item.name] == nil { oldNames[item.name] = take(item) { $0.name == item.name } }
    for item in new where oldNames[item.name] == nil { oldNames[item.name] = take(item) { $0.identifier == item.name } }
  }
}
