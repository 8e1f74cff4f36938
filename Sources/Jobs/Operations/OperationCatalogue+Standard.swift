extension OperationCatalogue {
  /// The operations of this library: `import`, `export`, `prune` and `update`, and those that look after stores.
  public static var standard: OperationCatalogue {
    var catalogue = OperationCatalogue()
    catalogue.add(ImportOperation.kind, ImportOperation.self)
    catalogue.addObjects()
    catalogue.addMaintenance()
    return catalogue
  }
}
