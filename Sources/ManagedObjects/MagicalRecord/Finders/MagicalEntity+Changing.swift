extension MagicalEntity {
  /// Inserts a new object.
  @discardableResult
  public static func createEntity(in context: ManagedObjectContext? = nil) throws -> Self {
    try resolved(context).insert(Self.self)
  }

  /// Marks the object for deletion by the next save. Returns whether it was a context's.
  /// Source: `MR_deleteEntity`.
  @discardableResult
  public func deleteEntity() -> Bool {
    guard let context = managedObjectContext else { return false }
    context.delete(self)
    return true
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
