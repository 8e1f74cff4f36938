public import ManagedObjects

extension MagicalEntity {
  /// Inserts a new object.
  @discardableResult
  public static func createEntity(in context: ManagedObjectContext? = nil) throws -> Self {
    try resolved(context).insert(Self.self)
  }

  /// Inserts a new object of an entity, for a class that several entities have.
  /// Source: `MR_createEntityWithDescription:inContext:`; an object without a context there can't be here.
  /// - Throws: ``ManagedObjectError/unknownEntity(name:known:)`` when the entity's objects are not of this class.
  @discardableResult
  public static func createEntity(
    with description: EntityDescription, in context: ManagedObjectContext? = nil
  ) throws -> Self {
    let context = try resolved(context)
    guard description.objectClass is Self.Type, context.model.entitiesByName[description.name] === description else {
      throw ManagedObjectError.unknownEntity(
        name: description.name,
        known: context.model.entities.filter { $0.objectClass is Self.Type }.map(\.name))
    }
    let object = try context.insert(description)
    // The entity's class is a subclass of Self, as was just checked.
    return unsafeDowncast(object, to: Self.self)
  }

  /// Whether the object is marked for deletion, or gone. Source: `MR_isEntityDeleted`.
  public var isEntityDeleted: Bool { isDeleted || managedObjectContext == nil }

  /// Marks the object for deletion by the next save. Returns whether it was a context's.
  /// Source: `MR_deleteEntity`.
  @discardableResult
  public func deleteEntity() -> Bool {
    guard let context = managedObjectContext else { return false }
    context.delete(self)
    return true
  }

  /// Marks the same object in another context for deletion by that context's next save, which must be used where it
  /// belongs. Returns whether that context has it.
  /// Source: `MR_deleteEntityInContext:`.
  @discardableResult
  public func deleteEntity(in other: ManagedObjectContext) throws -> Bool {
    if other === managedObjectContext { return deleteEntity() }
    do {
      return try inContext(other).deleteEntity()
    } catch ManagedObjectError.objectNotFound {
      return false
    }
  }

  /// Marks the objects that match for deletion, with the model's delete rules. Returns how many.
  /// Source: `MR_deleteAllMatchingPredicate:`.
  @discardableResult
  public static func deleteAll(
    matching predicate: FetchPredicate, in context: ManagedObjectContext? = nil
  ) throws -> Int {
    try delete(findAll(matching: predicate, in: context))
  }

  /// Marks every object for deletion, with the model's delete rules. Returns how many.
  /// Source: `MR_truncateAll`.
  @discardableResult
  public static func truncateAll(in context: ManagedObjectContext? = nil) throws -> Int {
    try delete(findAll(in: context))
  }

  private static func delete(_ objects: [Self]) -> Int {
    for object in objects { object.deleteEntity() }
    return objects.count
  }

  /// The same object in another context, which must be used where it belongs, as must the object's own. A new object
  /// gets its permanent ID for it; the other context finds it once it is saved.
  /// Source: `MR_inContext:`.
  /// - Throws: ``ManagedObjectError/objectNotFound(_:)`` when the other context can't find it.
  public func inContext(_ other: ManagedObjectContext) throws -> Self {
    if let context = managedObjectContext, objectID.isTemporaryID { try context.obtainPermanentIDs(for: [self]) }
    guard let object = try other.existingObject(with: objectID) as? Self else {
      throw ManagedObjectError.objectNotFound(objectID)
    }
    return object
  }

  /// The same object in the calling thread's context (see ``MagicalRecord/contextForCurrentThread()``).
  /// Source: `MR_inThreadContext`.
  public func inThreadContext() throws -> Self { try inContext(MagicalRecord.contextForCurrentThread()) }

  /// The object itself while it is new, for no other context can find it; otherwise the same object in another context.
  /// Source: `MR_inContextIfTemporaryObject:`.
  public func inContextIfTemporaryObject(_ other: ManagedObjectContext) throws -> Self {
    objectID.isTemporaryID ? self : try inContext(other)
  }

  /// Gives a new object the ID that it will have when it is saved. Source: `MR_obtainPermanentObjectID`.
  public func obtainPermanentObjectID() throws {
    if let context = managedObjectContext, objectID.isTemporaryID { try context.obtainPermanentIDs(for: [self]) }
  }

  /// Takes on the values that the store has now; unsaved changes stay. Source: `MR_refresh`.
  public func refresh() { managedObjectContext?.refresh(self, mergeChanges: true) }

  /// Whether the object could be inserted as it is. Source: `MR_isValidForInsert`.
  public var isValidForInsert: Bool { isValid { try validateForInsert() } }

  /// Whether the object could be updated as it is. Source: `MR_isValidForUpdate`.
  public var isValidForUpdate: Bool { isValid { try validateForUpdate() } }

  /// Why it isn't valid is logged, as in MagicalRecord: at ``MagicalRecord/LoggingLevel/verbose``.
  private func isValid(_ check: () throws -> Void) -> Bool {
    do {
      try check()
      return true
    } catch {
      MagicalRecord.log(.verbose, "\(objectID) isn't valid: \(error)")
      return false
    }
  }
}

extension MagicalEntity {
  /// Imports one record. See ``ManagedObjectContext/importObject(_:into:)``.
  @discardableResult
  public static func importFromObject(
    _ data: ImportedValue, in context: ManagedObjectContext? = nil
  ) throws -> Self? {
    try importFromArray([data], in: context).first
  }

  /// Imports records. See ``ManagedObjectContext/importObjects(_:into:batchSize:)``.
  @discardableResult
  public static func importFromArray(
    _ records: [ImportedValue], in context: ManagedObjectContext? = nil
  ) throws -> [Self] {
    let context = try resolved(context)
    return try context.importObjects(records, into: entity(in: context).name).compactMap { $0 as? Self }
  }
}
