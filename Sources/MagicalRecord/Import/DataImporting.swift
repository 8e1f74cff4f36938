public import ManagedObjects

/// What a class may have a say in while its objects are imported: MagicalRecord's hooks. Each is called on the context's
/// queue, and each has a default that changes nothing.
///
/// Source: `shouldImport:`, `willImport:`, `didImport:`, `import<Key>:` and `shouldImport<Key>:` of MagicalRecord, which
/// looks for methods by their names; here the last two are one method each, with the key as an argument.
public protocol DataImporting: ManagedObject {
  /// Whether data are imported into the object. A new object that says no is taken back.
  func shouldImport(_ data: ImportedValue) -> Bool
  /// Called before anything of the object is set.
  func willImport(_ data: ImportedValue)
  /// Imports the value of one attribute or relationship by hand. Called for what the data have, and for defaults.
  /// - Returns: whether it was imported; if not, it is as it would have been without this method.
  func importValue(_ value: ImportedValue, forKey key: String) throws -> Bool
  /// Whether what the data have for a relationship is imported.
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
