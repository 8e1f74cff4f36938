extension OperationCatalogue {
  /// Adds the operations on the objects of data stores.
  package mutating func addObjects() {
    add(ExportOperation.kind, ExportOperation.self)
    add(PruneOperation.kind, PruneOperation.self)
    add(UpdateOperation.kind, UpdateOperation.self)
  }
}
