// A migration by objects: every object of the old store is looked at, and new ones are made in another store. It works in
// batches, each saved and let go: only the numbers of who became whom are kept to the end.

import OrderedCollections

/// Turns a store of one model into one of another by a mapping model.
///
/// A program sees it in its migration policies and in the values that its mappings compute; the store makes it when a
/// mapping model of the program's own leads from its version to the coordinator's.
///
/// Source: Core Data's `NSMigrationManager`.
public final class MigrationManager {
  /// What is done.
  public let mappingModel: MappingModel
  /// A context on the old store, for reading.
  public let sourceContext: ManagedObjectContext
  /// A context on the new store.
  public let destinationContext: ManagedObjectContext
  /// The model of the old store.
  public var sourceModel: ManagedObjectModel { sourceContext.model }
  /// The model of the new store.
  public var destinationModel: ManagedObjectModel { destinationContext.model }
  /// The mapping that is being worked on.
  public internal(set) var currentEntityMapping: EntityMapping?
  /// How far the migration is, from 0 to 1, by mappings.
  public internal(set) var migrationProgress: Double = 0
  /// Whatever policies have to tell each other.
  public var userInfo: [String: Any] = [:]

  var policies: [String: EntityMigrationPolicy] = [:]
  var associations: [String: Associations] = [:]
  /// What the migration was cancelled with.
  var cancellation: (any Error)?
  /// Objects saved and let go together.
  let batchSize = 1000
  /// Numbers that were taken over, by hierarchy of the destination; nil for those that get new ones.
  private var numbers: [Int: Set<Int64>] = [:]

  /// Who became whom by one mapping.
  struct Associations {
    var destinations: [ManagedObjectID: [ManagedObjectID]] = [:]
    var sources: [ManagedObjectID: [ManagedObjectID]] = [:]
    /// The destinations in the order of their association.
    var order: [ManagedObjectID] = []
  }

  /// A migration from one coordinator's store to another's, on the calling thread. The destination gives numbers from
  /// above all those of the source.
  package init(
    _ mapping: MappingModel, from source: PersistentStoreCoordinator, to destination: PersistentStoreCoordinator
  ) {
    mappingModel = mapping
    sourceContext = ManagedObjectContext(.confinement, coordinator: source, name: "migration source")
    destinationContext = ManagedObjectContext(.confinement, coordinator: destination, name: "migration destination")
    var roots: [Int: Set<Int>] = [:]
    for mapping in mapping.entityMappings {
      guard let from = mapping.sourceEntityName.flatMap({ sourceModel.entitiesByName[$0] }),
        let to = mapping.destinationEntityName.flatMap({ destinationModel.entitiesByName[$0] })
      else { continue }
      roots[to.rootEntity.index, default: []].insert(from.rootEntity.index)
    }
    for (root, sources) in roots where sources.count == 1 { numbers[root] = [] }
  }

  /// Ends the migration with an error before the next object. The store stays as it was.
  /// Source: `cancelMigrationWithError(_:)` of Core Data.
  public func cancelMigration(with error: any Error) { cancellation = error }

  /// Notes that an object of the old store has become one of the new.
  ///
  /// Source: `associate(sourceInstance:withDestinationInstance:for:)` of Core Data.
  /// - Throws: the store's error, when the object can't be given an ID that lasts.
  public func associate(
    source: ManagedObject, withDestination destination: ManagedObject, for mapping: EntityMapping
  ) throws {
    if destination.objectID.isTemporaryID { try destinationContext.obtainPermanentIDs(for: [destination]) }
    let (from, to) = (source.objectID, destination.objectID)
    associations[mapping.name, default: Associations()].destinations[from, default: []].append(to)
    associations[mapping.name, default: Associations()].sources[to, default: []].append(from)
    associations[mapping.name, default: Associations()].order.append(to)
  }

  /// What objects of the old store have become by a mapping.
  ///
  /// Source: `destinationInstances(forEntityMappingName:sourceInstances:)` of Core Data.
  /// - Parameter sources: the objects; nil for all.
  public func destinationInstances(
    forEntityMappingName name: String, sourceInstances sources: [ManagedObject]? = nil
  ) -> [ManagedObject] {
    let known = associations[name] ?? Associations()
    let ids = sources?.flatMap { known.destinations[$0.objectID] ?? [] } ?? known.order
    return ids.map { destinationContext.object(with: $0) }
  }

  /// The objects of the old store from which those of the new were made by a mapping.
  ///
  /// Source: `sourceInstances(forEntityMappingName:destinationInstances:)` of Core Data.
  /// - Parameter destinations: the objects; nil for all.
  public func sourceInstances(
    forEntityMappingName name: String, destinationInstances destinations: [ManagedObject]? = nil
  ) -> [ManagedObject] {
    let known = associations[name] ?? Associations()
    let ids = (destinations?.map(\.objectID) ?? known.order).flatMap { known.sources[$0] ?? [] }
    return ids.map { sourceContext.object(with: $0) }
  }

  /// What an object of the old store has become, by whichever mapping.
  public func destinationIDs(of source: ManagedObjectID) -> [ManagedObjectID] {
    mappingModel.entityMappings.flatMap { associations[$0.name]?.destinations[source] ?? [] }
  }

  /// Makes the object that a mapping makes of a source by itself: with the values that it says, associated with the source,
  /// and with its number where no other object has it.
  ///
  /// - Returns: the new object; nil when the mapping has no destination.
  /// - Throws: what a value that is computed throws, or ``ManagedObjectError`` when one doesn't fit.
  @discardableResult
  public func createDestinationInstance(
    for source: ManagedObject, in mapping: EntityMapping
  ) throws -> ManagedObject? {
    guard let name = mapping.destinationEntityName else { return nil }
    let object = try destinationContext.insert(name)
    for property in mapping.attributeMappings {
      guard let value = try value(of: property, source) else { continue }
      try object.setValue(value, forKey: property.name)
    }
    if object.entity.primaryKey == nil,
      numbers[object.entity.rootEntity.index]?.insert(source.objectID.number).inserted == true
    {
      try destinationContext.setNumber(source.objectID.number, of: object)
    }
    try associate(source: source, withDestination: object, for: mapping)
    return object
  }

  /// Sets the relationships that a mapping sets by itself: to what the objects in the source's have become.
  /// - Throws: what a value that is computed throws, or ``ManagedObjectError`` when one doesn't fit.
  public func createRelationships(of destination: ManagedObject, in mapping: EntityMapping) throws {
    guard let source = sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [destination]).first
    else { return }
    for property in mapping.relationshipMappings {
      guard let relationship = destination.entity.relationshipsByName[property.name] else {
        throw ManagedObjectError.unknownProperty(entity: destination.entity.name, name: property.name)
      }
      guard let value = try value(of: property, source) else { continue }
      if case .custom = property.source {
        try destination.setValue(value, forKey: property.name)
      } else if !isSetByInverse(relationship) {
        try destination.setValue(moved(value, relationship), forKey: property.name)
      }
    }
  }

  private func value(of property: PropertyMapping, _ source: ManagedObject) throws -> Value? {
    func stored(_ name: String) throws -> Value {
      guard let value = source.value(forKey: name) else {
        throw ManagedObjectError.unknownProperty(entity: source.entity.name, name: name)
      }
      return value
    }
    switch property.source {
    case .property(let name): return try stored(name)
    case .propertyOrValue(let name, let other):
      let value = try stored(name)
      return value.isNull ? other : value
    case .value(let value): return value
    case .custom(let compute): return try compute(source, self)
    case nil: return nil
    }
  }

  /// A set whose objects all point back is there once they do.
  private func isSetByInverse(_ relationship: RelationshipDescription) -> Bool {
    guard relationship.isToMany, !relationship.isOrdered, let inverse = relationship.inverseRelationship,
      !inverse.isToMany
    else { return false }
    return mappingModel.entityMappings.contains { mapping in
      guard let name = mapping.destinationEntityName, let entity = destinationModel.entitiesByName[name],
        entity.isKindOf(inverse.entity)
      else { return false }
      if case .property = mapping.relationshipMappings.first(where: { $0.name == inverse.name })?.source { return true }
      return false
    }
  }

  private func moved(_ value: Value, _ relationship: RelationshipDescription) -> Value {
    func targets(_ ids: some Sequence<ManagedObjectID>) -> [ManagedObjectID] {
      ids.flatMap { destinationIDs(of: $0) }.filter { $0.entity.isKindOf(relationship.destinationEntity) }
    }
    let found: [ManagedObjectID]
    switch value {
    case .object(let id): found = targets([id])
    case .objects(let ids): found = targets(ids)
    case .orderedObjects(let ids): found = targets(ids)
    default: found = []
    }
    guard relationship.isToMany else { return found.first.map(Value.object) ?? .null }
    return relationship.isOrdered ? .orderedObjects(OrderedSet(found)) : .objects(Set(found))
  }
}
