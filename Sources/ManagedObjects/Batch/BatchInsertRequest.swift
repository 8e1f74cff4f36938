/// Inserts many rows directly into the store, without objects of a context.
///
/// ```swift
/// let request = BatchInsertRequest(entityName: "Quake", objects: rows)
/// request.resultType = .count
/// try context.execute(request)
/// ```
///
/// All rows are inserted in one transaction, or none. Attributes that aren't given get the model's defaults. As in Core Data,
/// the model's validation rules aren't checked; types, required attributes, uniqueness and references are. The context's merge
/// policy decides about a row whose unique values are taken (a custom policy counts as the type that it was made with): when
/// the object trumps, the given values are written into the stored row.
/// A row can conflict with two stored rows, by one constraint each. It is merged into the one that the entity's first
/// constraint names. Then either the other row is deleted, by its delete rules (the object trumps or overwrites, as SQLite's
/// `REPLACE` does), or it keeps the values of its constraint (the store trumps). Under the error policy the error names both
/// rows.
///
/// Source: Core Data's `NSBatchInsertRequest`. Beyond that a to-one relationship can be given, as `.object` with a
/// permanent ID, when nothing or a to-many relationship leads back.
public struct BatchInsertRequest {
  /// The entity of the rows.
  public let entityName: String
  /// The result that ``ManagedObjectContext/execute(_:)-(BatchInsertRequest)`` returns.
  public var resultType = BatchRequestResultType.statusOnly
  /// The stores to choose from: the first that holds the entity gets the rows. nil, the default, for all stores.
  ///
  /// Source: `affectedStores` of Core Data's `NSPersistentStoreRequest`.
  public var affectedStores: [PersistentStore]?
  let source: Source

  enum Source {
    case objects([[String: Value]])
    case dictionaries((inout [String: Value]) -> Bool)
    case managedObjects((ManagedObject) -> Bool)
  }

  /// Inserts a row for each dictionary of values by attribute.
  public init(entityName: String, objects: [[String: Value]]) {
    self.entityName = entityName
    source = .objects(objects)
  }

  /// Inserts a row for each dictionary that `dictionaryHandler` fills, until it returns true, which inserts nothing more.
  ///
  /// The handler is called on the context's queue, within the store's transaction: it must not write into the store.
  public init(entityName: String, dictionaryHandler: @escaping (inout [String: Value]) -> Bool) {
    self.entityName = entityName
    source = .dictionaries(dictionaryHandler)
  }

  /// Inserts a row for each time that `managedObjectHandler` fills an object, until it returns true, which inserts nothing
  /// more.
  ///
  /// The object belongs to no context, and is the same one each time, emptied. Use it to set attributes only. The
  /// handler is called on the context's queue, within the store's transaction: it must not write into the store.
  public init(entityName: String, managedObjectHandler: @escaping (ManagedObject) -> Bool) {
    self.entityName = entityName
    source = .managedObjects(managedObjectHandler)
  }
}

extension ManagedObjectContext {
  /// Inserts rows directly into the store. To be called on the context's queue. The context's objects and unsaved changes
  /// aren't affected.
  ///
  /// Source: `execute(_:)` of Core Data.
  /// - Throws: ``ManagedObjectError/unknownProperty(entity:name:)``,
  ///   ``ManagedObjectError/wrongType(entity:property:expected:found:)``, ``ManagedObjectError/validation(_:)`` for values
  ///   that are missing, ``ManagedObjectError/constraintConflicts(_:)``, ``ManagedObjectError/brokenReferences(_:)``, or
  ///   the store's error. Nothing is inserted then.
  @discardableResult
  public func execute(_ request: BatchInsertRequest) throws -> BatchInsertResult {
    confinement.check()
    let entity = try entity(request.entityName)
    guard !entity.isAbstract else { throw ManagedObjectError.abstractEntity(name: entity.name) }
    let insertion = BatchInsertion(
      policy: mergePolicy.mergeType, wantsIDs: request.resultType == .objectIDs, contextName: name,
      transactionAuthor: transactionAuthor)
    var fetch = StoreFetch(entity: entity, includesSubentities: false)
    fetch.affectedStores = try identifiers(of: request.affectedStores)
    let stores = try persistentStoreCoordinator.stores(for: fetch)
    let store = request.affectedStores?.first(where: stores.contains) ?? stores[0]
    let rows = BatchRows(request.source, entity, to: store, context: self)
    let done = try persistentStoreCoordinator.batch(in: store, "run a batch insert") { try insertion.run(rows, in: $0) }
    return BatchInsertResult(request.resultType, done)
  }
}
