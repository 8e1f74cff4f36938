extension OperationCatalogue {
  /// Adds the operations that look after data stores.
  package mutating func addMaintenance() {
    add(VacuumOperation.kind, VacuumOperation.self)
    add(OptimiseOperation.kind, OptimiseOperation.self)
    add(CheckpointOperation.kind, CheckpointOperation.self)
    add(ReindexOperation.kind, ReindexOperation.self)
  }
}
