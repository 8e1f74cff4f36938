package import ManagedObjects

extension AttributeDescription {
  /// Whether values may be in files beside the store.
  package var allowsFiles: Bool {
    definition.allowsExternalBinaryDataStorage && !isTransient && (type == .binaryData || type == .transformable)
  }

  /// Whether large values are written into files. Values that a store compares are not: those of uniqueness constraints and of
  /// keys, and derived ones, which SQL writes.
  package var storesFiles: Bool {
    allowsFiles && !isDerived && self !== entity.primaryKey
      && !entity.rootEntity.selfAndDescendants.contains { $0.uniquenessConstraints.contains { $0.contains(self) } }
  }
}
