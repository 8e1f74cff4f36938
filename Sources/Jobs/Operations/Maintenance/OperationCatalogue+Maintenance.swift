extension OperationCatalogue {
  /// Adds the operations that look after data stores.
  package mutating func addMaintenance() {
    add(VacuumOperation.kind, VacuumOperation.self)
    add(OptimiseOperation.kind, OptimiseOperation.self)
    add(CheckpointOperation.kind, CheckpointOperation.self)
    add(ReindexOperation.kind, ReindexOperation.self)
    add(BackupOperation.kind, BackupOperation.self)
    add(RestoreOperation.kind, RestoreOperation.self)
    add(CheckOperation.kind, CheckOperation.self)
    add(MigrateOperation.kind, MigrateOperation.self)
  }
}
