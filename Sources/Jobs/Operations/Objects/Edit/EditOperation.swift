// The save that changes the object also notes that the job is finished (see JobCheckpoint), so a job that is killed after it and
// runs again neither inserts a second object nor takes its own change for somebody else's. Nor is it cancelled then, since its
// change is in the store: see `endBefore`.
//
// That the object is as it was seen is compared in the context that changes it. What is saved between that and the save is found
// by the store (optimistic locking), and everything is compared again.

import Importing
package import ManagedObjects

/// Changes one object, makes one or deletes one, unless it isn't as it was seen: kind `edit`. See ``EditOptions``. What it does is
/// recorded whatever the entity says, so that it can be taken back.
package final class EditOperation: JobOperation, @unchecked Sendable {
  // Sendable: it adds nothing to its superclass.

  /// The kind of job that it does.
  package static let kind = "edit"
  package override class var access: StoreAccess { .shared }
  /// How often it is tried while others change the object between reading and saving.
  private static let attempts = 5

  package override class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {
    let options = try EditOptions.read(submission)
    try EditPlan(options, of: try entity(submission.entity, of: model)).check()
  }

  package override func perform() throws -> JobOutcome {
    let options = try EditOptions.read(job.options)
    let coordinator = try namedStore().coordinator
    let entity = try objectEntity(in: coordinator)
    try Self.requireCheckpoints(in: coordinator.model)
    let change = EditPlan(options, of: entity)
    try change.check()
    let context = try context()
    let lineage = LineageScope(true, of: nil, in: context.model).map {
      LineageRecorder(context, job: checkpointName, lineageOrigin, entity: entity.name, $0)
    }
    var attempt = 1
    while true {
      context.reset()
      let known = try ImportCheckpoint.read(checkpointName, in: context) ?? ImportCheckpoint()
      if known.isFinished { return completed(known, of: entity) }
      lineage?.begin()
      do {
        return completed(try save(change, options, known, lineage, in: context), of: entity)
      } catch ManagedObjectError.mergeConflicts where attempt < Self.attempts {
        attempt += 1
      } catch ManagedObjectError.validation(let failures) {
        throw EditError.invalid(failures)
      }
    }
  }

  package override func endBefore() throws -> JobOutcome? {
    let coordinator = try namedStore().coordinator
    guard coordinator.model.entitiesByName[ImportModel.checkpointEntity] != nil,
      let known = try ImportCheckpoint.read(checkpointName, in: try context()), known.isFinished
    else { return nil }
    return completed(known, of: try objectEntity(in: coordinator))
  }

  private func save(
    _ change: EditPlan, _ options: EditOptions, _ known: ImportCheckpoint, _ lineage: LineageRecorder?,
    in context: ManagedObjectContext
  ) throws -> ImportCheckpoint {
    var next = known
    let (object, isChanged) = try reading { try change.apply(in: context) }
    if options.isDeletion {
      context.processPendingChanges()
      next.counts.deleted = Int64(context.deletedObjects.count)
    } else if options.object == nil {
      try context.obtainPermanentIDs(for: [object])
      next.counts.inserted = 1
    } else if isChanged {
      next.counts.updated = 1
    } else {
      next.counts.unchanged = 1
    }
    next.isFinished = true
    next.position.record = 1
    // The number of the object stands where an import has its reader's state.
    next.position.state = String(object.objectID.number)
    try next.write(to: ImportCheckpoint.object(checkpointName, in: context))
    try lineage?.record()
    try context.save()
    return next
  }

  private func completed(_ checkpoint: ImportCheckpoint, of entity: EntityDescription) -> JobOutcome {
    let counts = checkpoint.counts
    let verb =
      counts.deleted > 0 ? "deleted" : counts.inserted > 0 ? "inserted" : counts.updated > 0 ? "changed" : "unchanged"
    let progress = JobProgress(
      records: 1, inserted: counts.inserted, updated: counts.updated, unchanged: counts.unchanged,
      deleted: counts.deleted, recordsTotal: 1)
    return .completed(progress, note: "\(entity.name) \(checkpoint.position.state): \(verb)")
  }
}
