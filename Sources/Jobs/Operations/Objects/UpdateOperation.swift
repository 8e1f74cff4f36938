// Each batch's save notes, beside the changes, how many objects it changed and which was the last (see JobCheckpoint). A killed
// job continues after that object, so it neither changes nor counts an object twice, even if the change makes the predicate
// true for it again.

import Importing
package import ManagedObjects

/// Gives attributes of the objects that match new values, in batches, through objects, so that validation, uniqueness and
/// announcements hold: kind `update`. See ``UpdateOptions``.
package final class UpdateOperation: JobOperation, @unchecked Sendable {
  // Sendable: what it adds is touched by `perform` alone.

  /// The kind of job that it does.
  package static let kind = "update"
  package override class var access: StoreAccess { .shared }
  /// How often a batch is tried whose rows are changed by others between reading and saving.
  private static let attempts = 5

  private var checkpoint = ImportCheckpoint()
  private var total: Int64 = 0
  /// Records what is changed, where the entity says so.
  private var lineage: LineageRecorder?

  package override class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {
    let options = try UpdateOptions.read(submission)
    let entity = try entity(submission.entity, of: model)
    try selection(options, entity).check()
    _ = try AssignedValues(options.values, of: entity)
  }

  private static func selection(_ options: UpdateOptions, _ entity: EntityDescription) throws -> Selection {
    try Selection(
      entity, format: options.predicate, isAll: options.all, includesSubentities: options.subentities, verb: "change")
  }

  package override func perform() throws -> JobOutcome {
    let options = try UpdateOptions.read(job.options)
    let (selection, context, known) = try selectedObjects { try Self.selection(options, $0) }
    let values = try AssignedValues(options.values, of: selection.entity)
    checkpoint = known
    lineage = lineageRecorder(context, of: selection.entity)
    if !checkpoint.isFinished {
      total = checkpoint.position.record + (try reading { try selection.count(in: context) })
      report(progress)
      while true {
        if let end = stopped(progress) { return end }
        if try !changeBatch(selection, values, options.batchSize, in: context) { break }
        report(progress)
      }
    }
    return .completed(progress)
  }

  /// Changes the next objects.
  /// - Returns: false when there are no more.
  private func changeBatch(
    _ selection: Selection, _ values: AssignedValues, _ limit: Int, in context: ManagedObjectContext
  ) throws -> Bool {
    var attempt = 1
    while true {
      context.reset()
      lineage?.begin()
      var next = checkpoint
      // The number of the last object stands where an import has its reader's state.
      let last = try Int64(next.position.state).map {
        try context.persistentStoreCoordinator.managedObjectID(entity: selection.entity.name, number: $0)
      }
      let objects = try reading { try context.fetch(selection.request(after: last, limit: limit)) }
      for object in objects {
        if values.assign(to: object) { next.counts.updated += 1 } else { next.counts.unchanged += 1 }
      }
      next.position.record += Int64(objects.count)
      next.isFinished = objects.count < limit
      if let end = objects.last { next.position.state = String(end.objectID.number) }
      try next.write(to: ImportCheckpoint.object(checkpointName, in: context))
      try lineage?.record()
      do {
        try context.save()
        checkpoint = next
        return !next.isFinished
      } catch ManagedObjectError.mergeConflicts where attempt < Self.attempts {
        attempt += 1
      } catch ManagedObjectError.validation(let failures) {
        throw Self.failure(failures)
      }
    }
  }

  /// Which object it was, what of it, and what to do.
  private static func failure(_ failures: [ValidationFailure]) -> JobFailure {
    let first = failures.prefix(3).map { failure in
      "\(failure.description)\(failure.objectID.map { " (\($0))" } ?? "")"
    }
    return JobFailure(
      code: "validation",
      message: first.joined(separator: "; ") + (failures.count > 3 ? "; and \(failures.count - 3) more" : "")
        + ". The batches before are changed, and this one isn't: leave such objects out by where, or correct them",
      isRetryable: false)
  }

  private var progress: JobProgress {
    let done = checkpoint.position.record
    return JobProgress(
      records: done, updated: checkpoint.counts.updated, unchanged: checkpoint.counts.unchanged,
      recordsTotal: max(total, done))
  }
}
