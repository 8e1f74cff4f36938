public import ManagedObjects

extension ManagedObjectContext {
  /// Imports one record into the object that it identifies, or a new one, with its related objects.
  ///
  /// The model's `userInfo` says how: `mappedKeyName`, `relatedByAttribute`, `dateFormat`,
  /// `useDefaultValueWhenNotPresent`. Nothing is saved. Classes can take part as ``DataImporting``.
  ///
  /// Source: `MR_importFromObject:inContext:`. Differences: relationships are looked up by every mapped name too; an object
  /// is never found by a key that the data doesn't have; a value that an attribute can't hold is an error and not 0.
  /// - Returns: the object; nil when its class refused the record.
  /// - Throws: ``MagicalImportError``, ``ManagedObjectError/unknownEntity(name:known:)``, or the store's error.
  @discardableResult
  public func importObject(_ data: ImportedValue, into entityName: String) throws -> ManagedObject? {
    try importObjects([data], into: entityName).first
  }

  /// Imports records as ``importObject(_:into:)`` does, with one fetch for each key attribute and batch.
  ///
  /// Source: `MR_importFromArray:inContext:`, which fetches for every object.
  /// - Returns: the objects in the order of the records, without those whose class refused the record.
  @discardableResult
  public func importObjects(
    _ records: [ImportedValue], into entityName: String, batchSize: Int = 1000
  ) throws -> [ManagedObject] {
    guard let entity = model.entitiesByName[entityName] else {
      throw ManagedObjectError.unknownEntity(name: entityName, known: model.entities.map(\.name))
    }
    return try MagicalImport(self).importRecords(records, into: entity, batchSize: batchSize)
  }
}

extension ManagedObject {
  /// Imports a record into this object, whatever the record's key.
  /// Source: `MR_importValuesForKeysWithObject:`.
  /// - Returns: whether the class accepted it.
  /// - Throws: ``MagicalImportError``, or the store's error.
  @discardableResult
  public final func importValues(from data: ImportedValue) throws -> Bool {
    guard let context = managedObjectContext else { return false }
    return try MagicalImport(context).importValues(data, into: self)
  }
}

/// MagicalRecord's hooks for a class whose objects are imported. Each is called on the context's queue, and has a default that
/// changes nothing.
///
/// Source: `shouldImport:`, `willImport:`, `didImport:`, `import<Key>:` and `shouldImport<Key>:` of MagicalRecord, which
/// looks for methods by their names; here the last two are one method each, with the key as an argument.
public protocol DataImporting: ManagedObject {
  /// Whether data is imported into the object. If not, a new object is deleted.
  func shouldImport(_ data: ImportedValue) -> Bool
  /// Called before the first property is set.
  func willImport(_ data: ImportedValue)
  /// Imports the value of one attribute or relationship in the class's own way. Called for values in the data and for defaults.
  /// - Returns: whether it was imported; if not, the import sets it.
  func importValue(_ value: ImportedValue, forKey key: String) throws -> Bool
  /// Whether the data of a relationship is imported.
  func shouldImport(_ data: ImportedValue, forRelationship name: String) -> Bool
  /// Called when attributes and relationships have been set.
  func didImport(_ data: ImportedValue)
}

extension DataImporting {
  /// Yes.
  public func shouldImport(_ data: ImportedValue) -> Bool { true }
  /// Does nothing.
  public func willImport(_ data: ImportedValue) {}
  /// Leaves it to the import.
  public func importValue(_ value: ImportedValue, forKey key: String) throws -> Bool { false }
  /// Yes.
  public func shouldImport(_ data: ImportedValue, forRelationship name: String) -> Bool { true }
  /// Does nothing.
  public func didImport(_ data: ImportedValue) {}
}
