import Importing
import ManagedObjects

// What the operations on objects share: which store and entity the job is about, and which objects.

extension JobOperation {
  /// The coordinator of the data store that the job names.
  /// - Throws: ``JobFailure`` of the code `no_such_store`.
  final func objectStore() throws -> PersistentStoreCoordinator {
    let name = job.store ?? ""
    guard let coordinator = environment.dataStores[name] else {
      let known = environment.dataStores.keys.sorted().joined(separator: ", ")
      throw JobFailure(
        code: "no_such_store",
        message: name.isEmpty
          ? "the job doesn't say which store is meant; there are \(known)"
          : "there is no store \(name); the configuration has \(known)", isRetryable: false)
    }
    return coordinator
  }

  /// The entity that the job names.
  /// - Throws: ``JobFailure`` of the codes `no_entity` and `unknown_entity`.
  final func objectEntity(in coordinator: PersistentStoreCoordinator) throws -> EntityDescription {
    try Self.entity(job.entity, of: coordinator.model)
  }

  /// The entity of that name.
  /// - Throws: ``JobFailure`` of the codes `no_entity` and `unknown_entity`.
  static func entity(_ name: String?, of model: ManagedObjectModel) throws -> EntityDescription {
    let known = DataEntities.of(model).map(\.name).sorted()
    guard let name else {
      throw JobFailure(
        code: "no_entity",
        message: "the job doesn't say which entity is meant; there are \(known.joined(separator: ", "))",
        isRetryable: false)
    }
    guard known.contains(name), let entity = model.entitiesByName[name] else {
      let nearest = NearestName.of(name, among: known).map { "did you mean \($0)?" }
      throw JobFailure(
        code: "unknown_entity",
        message: "the store has no entity \(name): \(nearest ?? "it has \(known.joined(separator: ", "))")",
        isRetryable: false)
    }
    return entity
  }

  /// What an operation works with that goes through selected objects and notes how far it has come.
  /// - Throws: ``JobFailure``, or the store's error.
  final func selectedObjects(
    _ select: (EntityDescription) throws -> Selection
  ) throws -> (selection: Selection, context: ManagedObjectContext, checkpoint: ImportCheckpoint) {
    let coordinator = try objectStore()
    let entity = try objectEntity(in: coordinator)
    try requireCheckpoints(in: coordinator)
    let selection = try select(entity)
    let context = privateContext(coordinator)
    let checkpoint = try ImportCheckpoint.read(checkpointName, in: context) ?? ImportCheckpoint()
    context.reset()
    return (selection, context, checkpoint)
  }

  /// A private context for the job, to be used by the calling thread.
  final func privateContext(_ coordinator: PersistentStoreCoordinator) -> ManagedObjectContext {
    ManagedObjectContext(
      .confinement, coordinator: coordinator, name: "\(job.kind) \(job.id)", transactionAuthor: "job \(job.id)")
  }

  /// Whether the operation is to stop at its next batch, and how it ends then.
  final func stopped(_ progress: JobProgress) -> JobOutcome? {
    isCancelled ? .cancelled(progress) : isDraining ? .interrupted(progress) : nil
  }
}
