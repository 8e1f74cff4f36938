package import Foundation
package import Importing
package import ManagedObjects

/// An import that has failed or was cancelled, and what it has committed before that. Blocks.
package struct UnfinishedImport {
  private let job: Job
  private let options: ImportOptions
  private let checkpoint: String
  private let rejects: URL
  private let coordinator: PersistentStoreCoordinator
  private let copy: (any RejectCopy)?

  /// - Parameters:
  ///   - rejects: the folder of the reject files.
  ///   - copy: where they are kept once more.
  /// - Throws: ``JobOptionsError``.
  package init(
    _ job: Job, queue: String, rejects: URL, copy: (any RejectCopy)? = nil, in coordinator: PersistentStoreCoordinator
  ) throws {
    self.copy = copy
    self.job = job
    self.coordinator = coordinator
    checkpoint = JobCheckpoint.name(job.id, queue: queue)
    options = try job.decodeOptions(as: ImportOptions.self)
    self.rejects = rejects.appendingPathComponent(ImportOperation.rejectsName(of: job, options.reader))
  }

  /// Cuts off records of the reject file that no commit counts, and sets the references of a retry's records. It can be
  /// repeated.
  /// - Returns: the job's progress, if the queue has another, and why the reject file couldn't be cut.
  package func settle() throws -> (progress: JobProgress?, problem: (any Error)?) {
    guard !options.isWhole, coordinator.model.entitiesByName[ImportModel.checkpointEntity] != nil else {
      return (nil, nil)
    }
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "import \(job.id), end")
    if job.claim > 0, coordinator.model.entitiesByName[ImportModel.fenceEntity] != nil {
      context.fence = try JobFence.close(checkpoint, to: job.claim, in: coordinator)
    }
    guard let saved = try ImportCheckpoint.committed(checkpoint, in: context) else { return (nil, nil) }
    context.reset()
    if job.origin?.retriedJob != nil {
      try ImportCheckpoint.setReferences(of: checkpoint, options, in: context)
    }
    var problem: (any Error)?
    if job.entity != ImportRequest.feed {
      do {
        try copy?.cut(rejects.lastPathComponent, to: saved.rejectsLength)
        try RejectedRecords.cut(rejects, to: saved.rejectsLength, options.reader)
      } catch {
        problem = error
      }
    }
    let counts = saved.counts
    var progress = job.progress
    progress.records = counts.records
    (progress.inserted, progress.updated, progress.unchanged) = (counts.inserted, counts.updated, counts.unchanged)
    (progress.deleted, progress.skipped, progress.rejected) = (counts.deleted, counts.skipped, counts.rejected)
    progress.rejectsFile = counts.rejected > 0 ? rejects.lastPathComponent : nil
    guard progress.records != job.progress.records || progress.rejected != job.progress.rejected else {
      return (nil, problem)
    }
    return (progress, problem)
  }
}
