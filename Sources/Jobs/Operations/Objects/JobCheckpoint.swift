// Rules 3 and 4 (ARCHITECTURE.md) for operations on objects: the save of a batch also notes in the data store how far the job
// has come, where imports note the same. A job that is killed and runs again continues from there and counts nothing twice.
// The note is removed when the queue knows of the job's end.

import Importing
package import ManagedObjects

/// How far a job has come in a data store.
package enum JobCheckpoint {
  /// What names a job over all queues that a data store may ever have been worked on by.
  package static func name(_ id: Int64, queue: String) -> String { "\(queue)/\(id)" }

  /// The kinds of jobs that leave such a note.
  package static let kinds: Set<String> = [ImportOperation.kind, PruneOperation.kind, UpdateOperation.kind]

  /// Removes what a job keeps in its data store to go on by, once its end is in the queue.
  package static func forget(_ job: JobSnapshot, queue: String, in coordinator: PersistentStoreCoordinator) throws {
    guard coordinator.model.entitiesByName[ImportModel.checkpointEntity] != nil else { return }
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "\(job.kind) \(job.id), clean-up")
    try ImportCheckpoint.remove(name(job.id, queue: queue), in: context)
  }
}

extension JobOperation {
  /// What names the job in its data store.
  final var checkpointName: String { JobCheckpoint.name(job.id, queue: environment.queueIdentifier) }

  /// Refuses a store that has no place for the job's notes.
  /// - Throws: ``JobFailure`` of the code `unsupported`.
  final func requireCheckpoints(in coordinator: PersistentStoreCoordinator) throws {
    guard coordinator.model.entitiesByName[ImportModel.checkpointEntity] == nil else { return }
    throw JobFailure(
      code: "unsupported",
      message:
        "the store's model has no \(ImportModel.checkpointEntity), in which the job would note how far it is: open "
        + "the store with ImportModel.adding(to:)", isRetryable: false)
  }
}
