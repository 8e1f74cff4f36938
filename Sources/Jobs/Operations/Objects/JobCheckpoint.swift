// Rules 3 and 4 (ARCHITECTURE.md) for operations on objects: the save of a batch also notes in the data store how far the job
// has come, where imports note the same. A job that is killed and runs again continues from there and counts nothing twice.
// The note is removed when the queue knows of the job's end.

import Importing
package import ManagedObjects

// What the operations on objects share: which store and entity the job is about, and which objects.

extension JobOperation {
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
    let coordinator = try namedStore().coordinator
    let entity = try objectEntity(in: coordinator)
    try Self.requireCheckpoints(in: coordinator.model)
    let selection = try select(entity)
    let context = try context()
    let checkpoint = try ImportCheckpoint.read(checkpointName, in: context) ?? ImportCheckpoint()
    context.reset()
    return (selection, context, checkpoint)
  }

  /// Whether the operation is to stop at its next batch, and how it ends then.
  final func stopped(_ progress: JobProgress) -> JobOutcome? {
    isCancelled ? .cancelled(progress) : isDraining ? .interrupted(progress) : nil
  }
}

/// How far a job has come in a data store.
package enum JobCheckpoint {
  /// What names a job over all queues that a data store may ever have been worked on by.
  package static func name(_ id: Int64, queue: String) -> String { "\(queue)/\(id)" }

  /// Whether jobs of a kind leave something in their data store. Those that only read, or that replace the store, don't; what jobs of
  /// a program's own kind do isn't known.
  package static func isKept(by kind: String) -> Bool { !kindsWithout.contains(kind) }

  private static let kindsWithout: Set<String> = [
    ExportOperation.kind, VacuumOperation.kind, OptimiseOperation.kind, CheckpointOperation.kind, ReindexOperation.kind,
    BackupOperation.kind, RestoreOperation.kind, MigrateOperation.kind, RevertOperation.kind, ChangeOperation.kind,
  ]

  /// Removes what a job keeps in its data store to go on by, once its end is in the queue. Does nothing where a later claim has begun
  /// to work on it.
  /// - Parameter claim: the number of the job's latest claim; nil for a job that is no longer in the queue.
  package static func forget(
    _ id: Int64, claim: Int64?, queue: String, in coordinator: PersistentStoreCoordinator
  ) throws {
    guard coordinator.model.entitiesByName[ImportModel.checkpointEntity] != nil else { return }
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "job \(id), clean-up")
    let name = name(id, queue: queue)
    guard coordinator.model.entitiesByName[ImportModel.fenceEntity] != nil, claim != 0 else {
      return try ImportCheckpoint.remove(name, in: context)
    }
    do {
      let claim = claim ?? JobFence.highest
      context.fence = try JobFence.close(name, to: claim, in: coordinator)
      try ImportCheckpoint.remove(name, in: context)
      if context.fence != nil { try JobFence.remove(name, at: claim, in: context) }
    } catch is JobFence.Raised {
      return
    } catch is SupersededSave {
      return
    }
  }

  /// The jobs of a queue that keep something in a data store to go on by.
  package static func jobs(ofQueue queue: String, in coordinator: PersistentStoreCoordinator) throws -> Set<Int64> {
    guard coordinator.model.entitiesByName[ImportModel.checkpointEntity] != nil else { return [] }
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "checkpoints")
    var names = try ImportCheckpoint.names(beginningWith: "\(queue)/", in: context)
    if coordinator.model.entitiesByName[ImportModel.fenceEntity] != nil {
      names += try JobFence.names(beginningWith: "\(queue)/", in: context)
    }
    return Set(names.compactMap { Int64($0.dropFirst(queue.count + 1).prefix { $0 != "#" }) })
  }
}

extension JobOperation {
  /// What names the job in its data store.
  final var checkpointName: String { JobCheckpoint.name(job.id, queue: environment.queueIdentifier) }

  /// What is recorded of the job, where the origin of rows is.
  final var lineageOrigin: LineageOrigin {
    var origin = LineageOrigin()
    origin.number = job.id
    origin.kind = job.kind
    origin.recipe = job.recipe ?? ""
    origin.submitter = job.submittedBy
    origin.submitted = job.submittedAt
    origin.keepsBefore = environment.keepsBeforeImages()
    return origin
  }

  /// Records what the job changes, where the entity says so; nil otherwise.
  final func lineageRecorder(_ context: ManagedObjectContext, of entity: EntityDescription) -> LineageRecorder? {
    LineageScope(nil, of: entity, in: context.model).map {
      LineageRecorder(context, job: checkpointName, lineageOrigin, entity: entity.name, $0)
    }
  }

  /// Refuses a store that has no place for the job's notes.
  /// - Throws: ``JobFailure`` of the code `unsupported`.
  static func requireCheckpoints(in model: ManagedObjectModel) throws {
    guard model.entitiesByName[ImportModel.checkpointEntity] == nil else { return }
    throw JobFailure(
      code: "unsupported",
      message:
        "the store's model has no \(ImportModel.checkpointEntity), in which the job would note how far it is: open "
        + "the store with ImportModel.adding(to:)", isRetryable: false)
  }
}
