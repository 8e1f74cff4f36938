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
