// A mapping model describes how the rows of one version of a model are converted to another: an entity mapping for each entity
// of the new version that takes rows of the old one, for each new entity, and for each removed one. It is a plain value: the
// result of ``MappingModel/inferred(from:to:)`` can be inspected, changed, and given to a store's description.

/// How a store of one model is converted to another.
///
/// Source: Core Data's `NSMappingModel`.
public struct MappingModel: Sendable {
  /// The model that made the store.
  public let sourceModel: ManagedObjectModel
  /// The model that it is converted to.
  public let destinationModel: ManagedObjectModel
  /// The mapping of each entity.
  public var entityMappings: [EntityMapping]

  /// A mapping of the given entities. An entity of the old model that isn't a source loses its rows.
  public init(from source: ManagedObjectModel, to destination: ManagedObjectModel, entityMappings: [EntityMapping]) {
    self.sourceModel = source
    self.destinationModel = destination
    self.entityMappings = entityMappings
  }

  /// The entity mappings by their names.
  public var entityMappingsByName: [String: EntityMapping] {
    Dictionary(entityMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The mapping whose destination is the entity of that name. Setting it replaces the mapping.
  public subscript(destination name: String) -> EntityMapping? {
    get { entityMappings.first { $0.destinationEntityName == name } }
    set {
      let index = entityMappings.firstIndex { $0.destinationEntityName == name }
      if let index { entityMappings.remove(at: index) }
      if let newValue { entityMappings.insert(newValue, at: index ?? entityMappings.count) }
    }
  }

  /// The mapping that follows from the two models alone.
  ///
  /// Entities and properties are matched by renaming identifier, then by name; a property is found wherever in the
  /// hierarchy it was. The inference covers: adding, removing and renaming entities and properties; optional to required with a
  /// default, and back; to-one to to-many; ordered to unordered, and back; properties pulled up and pushed down, new parents,
  /// entities that move into or out of a hierarchy.
  ///
  /// Source: `inferredMappingModel(forSourceModel:destinationModel:)` of Core Data. It differs in that
  /// - an attribute's type may change where no value is lost: a whole number to a wider one, to Decimal, or to Double or Float
  ///   if all its values are exact there; a Boolean to a number, a Float to a Double, and nearly everything to String;
  /// - entities without a common parent may get one: Core Data can't merge hierarchies. Where two rows would have the same
  ///   number, those of all entities but one get new numbers, and with them new object IDs;
  /// - a renaming identifier of the new version is an explicit claim: another entity or property that has the claimed name is
  ///   new.
  ///
  /// - Throws: ``MigrationError/cannotInfer(obstacles:)`` with every obstacle.
  public static func inferred(
    from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) throws -> MappingModel {
    try inferred(from: source, source.entities, to: destination, destination.entities)
  }

  /// The same for a store that holds only some of the entities.
  package static func inferred(
    from source: ManagedObjectModel, _ sourceEntities: [EntityDescription], to destination: ManagedObjectModel,
    _ destinationEntities: [EntityDescription]
  ) throws -> MappingModel {
    var inference = MappingInference(from: sourceEntities, to: destinationEntities)
    let mappings = inference.run()
    guard inference.obstacles.isEmpty else { throw MigrationError.cannotInfer(obstacles: inference.obstacles) }
    return MappingModel(from: source, to: destination, entityMappings: mappings)
  }
}

extension MappingModel {
  /// Data of the source that no mapping takes over: each removed entity, and each stored property that isn't a source. Properties
  /// that are derived, or that follow from the other end of a relationship, aren't lost.
  package var losses: [MigrationObstacle] {
    entityMappings.flatMap { mapping -> [MigrationObstacle] in
      guard let name = mapping.sourceEntityName, let source = sourceModel.entitiesByName[name], !source.isAbstract
      else {
        return []
      }
      if mapping.destinationEntityName == nil {
        return [
          MigrationObstacle(
            name, problem: "isn't in the model any more, and its objects would be lost", remedy: MappingModel.remedy)
        ]
      }
      let used = Set((mapping.attributeMappings + mapping.relationshipMappings).compactMap(\.sourceName))
      return source.properties.filter { $0.isLost(unless: used) }.map {
        MigrationObstacle(
          name, $0.name, problem: "isn't in the model any more, and its values would be lost",
          remedy: MappingModel.remedy)
      }
    }
  }

  private static let remedy =
    "put it back (under a new name, with the old one as its renaming identifier), or, if the loss is meant, name it in "
    + "permittedMigrationLosses (laded: migration.allow_loss of the store)"
}

extension PropertyDescription {
  fileprivate func isLost(unless used: Set<String>) -> Bool {
    if used.contains(name) || isTransient || isDerived { return false }
    if let relationship = self as? RelationshipDescription {
      return !relationship.isToMany || relationship.isManyToMany
    }
    return true
  }
}
