// A migration by objects: it reads every object of the old store, and makes new ones in another store. It works in batches, each
// of which is saved and released: only the numbers of associated objects are kept to the end.

import Foundation
import OrderedCollections

/// Converts a store of one model to another by a mapping model.
///
/// A program sees it in its migration policies and in the values that its mappings compute; the store makes it when a
/// mapping model of the program's own leads from its version to the coordinator's. For a manual migration a program makes it
/// itself, one for each step of a progressive one:
///
/// ```swift
/// let manager = MigrationManager(sourceModel: old, destinationModel: new)
/// try manager.migrateStore(from: .sqlite(at: file), to: .sqlite(at: next), with: .inferred(from: old, to: new))
/// try PersistentStoreCoordinator(model: new).replacePersistentStore(at: file, withPersistentStoreFrom: next)
/// ```
///
/// It runs on the calling thread, which is the thread of its contexts.
///
/// Source: Core Data's `NSMigrationManager`.
public final class MigrationManager {
  /// The mapping model; without mappings before ``migrateStore(from:to:with:)``.
  public private(set) var mappingModel: MappingModel
  /// A context on the old store, for reading.
  public let sourceContext: ManagedObjectContext
  /// A context on the new store.
  public let destinationContext: ManagedObjectContext
  /// The model of the old store.
  public var sourceModel: ManagedObjectModel { sourceContext.model }
  /// The model of the new store.
  public var destinationModel: ManagedObjectModel { destinationContext.model }
  /// The mapping that is being worked on.
  public private(set) var currentEntityMapping: EntityMapping?
  /// The progress of the migration, from 0 to 1, by mappings.
  public private(set) var migrationProgress: Double = 0
  /// Values that policies share.
  public var userInfo: [String: Any] = [:]

  private var policies: [String: EntityMigrationPolicy] = [:]
  private var associations: [String: Associations] = [:]
  /// The error that the migration was cancelled with.
  private var cancellation: (any Error)?
  /// The number of objects that are saved and released together.
  let batchSize = 1000
  /// Numbers that were taken over, by hierarchy of the destination; nil for those that get new ones.
  private var numbers: [Int: Set<Int64>] = [:]

  /// The associations of one mapping.
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
  }

  /// A manual migration from one model to another: see ``migrateStore(from:to:with:)``.
  ///
  /// Source: `init(sourceModel:destinationModel:)` of Core Data.
  public convenience init(sourceModel: ManagedObjectModel, destinationModel: ManagedObjectModel) {
    self.init(
      MappingModel(from: sourceModel, to: destinationModel, entityMappings: []),
      from: PersistentStoreCoordinator(model: sourceModel), to: PersistentStoreCoordinator(model: destinationModel))
  }

  /// Converts a store of the source model to a new one of the destination model.
  ///
  /// The source is opened for reading only, and isn't changed. The new store is made beside its place, as a file that ends
  /// with `.migrating`, and renamed when it is complete: a killed process, and a migration that fails, leave none. It has an
  /// identifier of its own; its objects have the numbers of those that they were made of.
  ///
  /// Source: `migrateStore(from:type:options:mapping:to:type:options:)` of Core Data.
  /// - Throws: ``PersistentStoreError/exists(path:)`` when there is a file at the destination;
  ///   ``MigrationError/incompatibleVersion(store:differences:)`` when the source isn't of the source model; what a policy or a
  ///   value throws; ``ManagedObjectError/validation(_:)`` with every new object that isn't valid; a store's error.
  public func migrateStore(
    from source: PersistentStoreDescription, to destination: PersistentStoreDescription, with mapping: MappingModel
  ) throws {
    var (source, side) = (source, destination)
    source.isReadOnly = true
    if let place = destination.url {
      guard !FileManager.default.fileExists(atPath: place.path) else {
        throw PersistentStoreError.exists(path: place.path)
      }
      let path = place.path + ".migrating"
      try Self.removeFiles(at: path)
      side.url = URL(fileURLWithPath: path)
    }
    mappingModel = mapping
    (policies, associations, cancellation, migrationProgress) = ([:], [:], nil, 0)
    let result = Result {
      try withStore(source, sourceContext) {
        try withStore(side, destinationContext) {
          try reserveNumbers()
          try run()
        }
      }
      if let path = side.url?.path, let place = destination.url { try Self.move(path, to: place) }
    }
    // After the rename, what is left beside the file: closing the store has copied its log into it.
    if let path = side.url?.path { try Self.removeFiles(at: path) }
    try result.get()
  }

  /// Runs `body` while a context's coordinator has a store.
  private func withStore(
    _ description: PersistentStoreDescription, _ context: ManagedObjectContext, _ body: () throws -> Void
  ) throws {
    let coordinator = context.persistentStoreCoordinator
    let store = try coordinator.addPersistentStore(description)
    let result = Result {
      try body()
      try store.synchronize()
    }
    context.reset()
    try coordinator.remove(store)
    try result.get()
  }

  private static func move(_ path: String, to place: URL) throws {
    do {
      try FileManager.default.moveItem(atPath: path, toPath: place.path)
    } catch {
      throw ManagedObjectError.store(
        StoreFailure(.other, path: place.path, message: "the migrated store can't be renamed from \(path): \(error)"))
    }
  }

  /// Removes a file that an earlier migration left, with what SQLite keeps beside it.
  private static func removeFiles(at path: String) throws {
    for ending in ["", "-wal", "-shm", "-journal"] where FileManager.default.fileExists(atPath: path + ending) {
      do {
        try FileManager.default.removeItem(atPath: path + ending)
      } catch {
        throw ManagedObjectError.store(
          StoreFailure(.other, path: path + ending, message: "the file of a migration can't be removed: \(error)"))
      }
    }
  }

  /// Gives new objects numbers from above all those of the source, so that the others can keep theirs.
  package func reserveNumbers() throws {
    var highest: Int64 = 0
    for store in sourceContext.persistentStoreCoordinator.persistentStores {
      if let store = store.content as? any NumberKeeping { highest = max(highest, try store.highestNumber()) }
    }
    for store in destinationContext.persistentStoreCoordinator.persistentStores {
      if let store = store.content as? any NumberKeeping { try store.raiseNumbers(above: highest) }
    }
  }

  /// Finds the hierarchies whose objects can keep their numbers: those that take their objects from one hierarchy.
  private func findNumbers() {
    numbers = [:]
    var roots: [Int: Set<Int>] = [:]
    for mapping in mappingModel.entityMappings {
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

  /// Associates an object of the old store with one of the new store.
  ///
  /// Source: `associate(sourceInstance:withDestinationInstance:for:)` of Core Data.
  /// - Throws: the store's error, when the object can't get a permanent ID.
  public func associate(
    source: ManagedObject, withDestination destination: ManagedObject, for mapping: EntityMapping
  ) throws {
    if destination.objectID.isTemporaryID { try destinationContext.obtainPermanentIDs(for: [destination]) }
    let (from, to) = (source.objectID, destination.objectID)
    associations[mapping.name, default: Associations()].destinations[from, default: []].append(to)
    associations[mapping.name, default: Associations()].sources[to, default: []].append(from)
    associations[mapping.name, default: Associations()].order.append(to)
  }

  /// The objects that a mapping has made of objects of the old store.
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

  /// The objects that any mapping has made of an object of the old store.
  public func destinationIDs(of source: ManagedObjectID) -> [ManagedObjectID] {
    mappingModel.entityMappings.flatMap { associations[$0.name]?.destinations[source] ?? [] }
  }

  /// Makes a mapping's default object for a source: with the mapping's values, associated with the source, and with its number
  /// if no other object has it.
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
      try object.setValue(widened(value, property, source, object), forKey: property.name)
    }
    if object.entity.primaryKey == nil,
      numbers[object.entity.rootEntity.index]?.insert(source.objectID.number).inserted == true
    {
      try destinationContext.setNumber(source.objectID.number, of: object)
    }
    try associate(source: source, withDestination: object, for: mapping)
    return object
  }

  /// Sets a mapping's relationships by default: to the objects that the source's objects were converted to.
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

  /// A value of the source's attribute as one of the new object's, whose type may be wider.
  private func widened(
    _ value: Value, _ property: PropertyMapping, _ source: ManagedObject, _ object: ManagedObject
  ) throws -> Value {
    guard let name = property.sourceName, let origin = source.entity.attributesByName[name],
      let attribute = object.entity.attributesByName[property.name], origin.type != attribute.type,
      attribute.widening(from: origin) != nil
    else { return value }
    // A default for nil has the new type already.
    if case .propertyOrValue = property.source, source.value(forKey: name)?.isNull == true { return value }
    guard let widened = attribute.widened(value, from: origin) else {
      throw MigrationError.cannotInfer(obstacles: [
        .inexact(attribute, of: object.entity, from: origin, problem: "\(value.plainText) isn't exact in it")
      ])
    }
    return widened
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

  /// A to-many relationship needs no write of its own if its objects' inverse relationships define it.
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

extension MigrationManager {
  /// Runs the migration, and saves.
  /// - Throws: what a policy or value throws, ``ManagedObjectError/validation(_:)`` with every object of the new store
  ///   that isn't valid, or a store's error.
  package func run() throws {
    findNumbers()
    let steps = Double(mappingModel.entityMappings.count * 2)
    for (index, mapping) in mappingModel.entityMappings.enumerated() {
      try createInstances(mapping)
      migrationProgress = Double(index + 1) / steps
    }
    for (index, mapping) in mappingModel.entityMappings.enumerated() {
      try createRelationships(mapping)
      migrationProgress = 0.5 + Double(index + 1) / steps
    }
    for mapping in mappingModel.entityMappings {
      try policy(of: mapping).performCustomValidation(forMapping: mapping, manager: self)
    }
    try flush(checking: .nothing)
    try validate()
    for mapping in mappingModel.entityMappings { try policy(of: mapping).end(mapping, manager: self) }
    try flush(checking: .everything)
    currentEntityMapping = nil
  }

  private enum Check {
    case nothing
    case attributes
    case everything
  }

  private func policy(of mapping: EntityMapping) -> EntityMigrationPolicy {
    currentEntityMapping = mapping
    if let known = policies[mapping.name] { return known }
    let new = (mapping.entityMigrationPolicy ?? EntityMigrationPolicy.self).init()
    policies[mapping.name] = new
    return new
  }

  private func createInstances(_ mapping: EntityMapping) throws {
    let policy = policy(of: mapping)
    try policy.begin(mapping, with: self)
    if mapping.mappingType != .remove, let name = mapping.sourceEntityName {
      var request = FetchRequest<ManagedObject>(entityName: name)
      request.includesSubentities = false
      request.fetchLimit = batchSize
      while true {
        let objects = try sourceContext.fetch(request)
        for object in objects {
          if let cancellation { throw cancellation }
          try policy.createDestinationInstances(forSource: object, in: mapping, manager: self)
        }
        try flush(checking: .attributes)
        guard objects.count == batchSize else { break }
        request.fetchOffset += batchSize
      }
    }
    try policy.endInstanceCreation(forMapping: mapping, manager: self)
    try flush(checking: .attributes)
  }

  private func createRelationships(_ mapping: EntityMapping) throws {
    let policy = policy(of: mapping)
    for (index, id) in (associations[mapping.name]?.order ?? []).enumerated() {
      if let cancellation { throw cancellation }
      try policy.createRelationships(
        forDestination: destinationContext.existingObject(with: id), in: mapping, manager: self)
      if index % batchSize == batchSize - 1 { try flush(checking: .nothing) }
    }
    try policy.endRelationshipCreation(forMapping: mapping, manager: self)
    try flush(checking: .nothing)
  }

  /// Saves the new objects and releases all objects. Objects have no relationships yet when they are first saved.
  private func flush(checking check: Check) throws {
    if let cancellation { throw cancellation }
    // What couldn't be read of an old object would be missing in the new one.
    try sourceContext.throwDeferredError()
    switch check {
    case .everything: try destinationContext.save()
    case .nothing: try destinationContext.saveValidated()
    case .attributes:
      var failures: [ValidationFailure] = []
      for object in destinationContext.insertedObjects { object.validate(into: &failures) }
      failures.removeAll { failure in
        destinationModel.entitiesByName[failure.entityName]?.relationshipsByName[failure.property] != nil
      }
      guard failures.isEmpty else { throw ManagedObjectError.validation(failures) }
      try destinationContext.saveValidated()
    }
    sourceContext.reset()
    destinationContext.reset()
  }

  /// Validates every new object, after its relationships are set.
  private func validate() throws {
    var failures: [ValidationFailure] = []
    for mapping in mappingModel.entityMappings {
      for (index, id) in (associations[mapping.name]?.order ?? []).enumerated() {
        let object = try destinationContext.existingObject(with: id)
        for relationship in object.entity.relationships
        where relationship.isToMany
          && (relationship.definition.minimumCount > 0 || relationship.definition.maximumCount > 0)
        {
          _ = object.value(forKey: relationship.name)
        }
        object.validate(into: &failures)
        try destinationContext.throwDeferredError()
        if index % batchSize == batchSize - 1 { destinationContext.reset() }
      }
      destinationContext.reset()
    }
    guard failures.isEmpty else { throw ManagedObjectError.validation(failures) }
  }
}

extension ManagedObjectContext {
  /// Gives a new object the ID with that number, which no other object has.
  func setNumber(_ number: Int64, of object: ManagedObject) throws {
    let id = try persistentStoreCoordinator.managedObjectID(entity: object.entity.name, number: number)
    registry.note(id, for: object.id)
    registry.rename(object, to: id)
  }
}
