public import ManagedObjects

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
