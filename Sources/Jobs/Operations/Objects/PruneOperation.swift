// Deleting is idempotent, counting isn't. Each batch's save therefore notes the count (see JobCheckpoint), and a killed job
// goes through the remaining objects from the beginning. An object that others need stays. What needs it may be deleted
// later, so passes follow each other until one deletes nothing.

import Importing
package import ManagedObjects

/// Deletes the objects that match, in batches, with the model's delete rules: kind `prune`.
package final class PruneOperation: JobOperation, @unchecked Sendable {
  // Sendable: what it adds is touched by `perform` alone.

  /// The kind of job that it does.
  package static let kind = "prune"
  package override class var access: StoreAccess { .shared }

  /// What a submission may say beside store and entity.
  package struct Options: OperationOptions, Equatable {
    /// Which objects, in the predicate language.
    package var predicate: String?
    /// Whether every object is meant; refused beside a predicate, needed without one.
    package var all = false
    /// Objects that are deleted by one save.
    package var batchSize = 2000
    /// Whether objects of entities that inherit from the entity are among them.
    package var subentities = true

    package enum CodingKeys: String, CodingKey, CaseIterable {
      case predicate = "where", all, batchSize = "batch_size", subentities
    }

    package init() {}

    package init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      self.init()
      predicate = try values.decodeIfPresent(String.self, forKey: .predicate)
      all = try values.flag(.all) ?? all
      batchSize = try values.number(.batchSize, 1...100_000) ?? batchSize
      subentities = try values.flag(.subentities) ?? subentities
    }
  }

  private var checkpoint = ImportCheckpoint()
  private var total: Int64 = 0
  /// Objects that stay as others need them, of the pass that goes on, and what some of them are known as.
  private var kept: (count: Int64, examples: [String]) = (0, [])

  package override class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {
    let entity = try entity(submission.entity, of: model)
    try selection(try Options.read(submission), entity).check()
  }

  private static func selection(_ options: Options, _ entity: EntityDescription) throws -> Selection {
    try Selection(
      entity, format: options.predicate, isAll: options.all, includesSubentities: options.subentities, verb: "delete")
  }

  package override func perform() throws -> JobOutcome {
    let options = try Options.read(job.options)
    let (selection, context, known) = try selectedObjects { try Self.selection(options, $0) }
    checkpoint = known
    if !checkpoint.isFinished {
      total = checkpoint.counts.deleted + (try reading { try selection.count(in: context) })
      report(progress)
      guard try deleteAll(selection, options.batchSize, in: context) else {
        return isCancelled ? .cancelled(progress) : .interrupted(progress)
      }
      try finish(in: context)
    }
    let notes =
      kept.count == 0
      ? nil
      : """
      \(kept.count) \(selection.entity.name) that match stay, since others need them, such as \(kept.examples.joined(separator: ", "))
      """
    return .completed(progress, note: notes)
  }

  /// Whether it came to the end.
  private func deleteAll(_ selection: Selection, _ batchSize: Int, in context: ManagedObjectContext) throws -> Bool {
    let deletion = Deletion(
      context: context, entity: selection.entity, job: checkpointName, predicate: selection.predicate,
      includesSubentities: selection.includesSubentities, lineage: lineageRecorder(context, of: selection.entity))
    while true {
      kept = (0, [])
      let before = checkpoint.counts.deleted
      var last: ManagedObjectID?
      while true {
        if stopped(progress) != nil { return false }
        let ids = try reading { try context.fetchIDs(selection.request(after: last, limit: batchSize)) }
        context.reset()
        guard let end = ids.last else { break }
        last = end
        let refused = try deletion.delete(ids, &checkpoint)
        context.reset()
        try note(refused, selection, in: context)
        report(progress)
      }
      if kept.count == 0 || checkpoint.counts.deleted == before { return true }
    }
  }

  private func note(_ refused: [ManagedObjectID], _ selection: Selection, in context: ManagedObjectContext) throws {
    kept.count += Int64(refused.count)
    let some = refused.prefix(3 - kept.examples.count)
    guard !some.isEmpty else { return }
    kept.examples += try context.fetch(
      FetchRequest<ManagedObject>(
        entityName: selection.entity.name, predicate: .isIn("SELF", some.map { .object($0) }))
    ).map(\.keyDescription)
    context.reset()
  }

  /// Notes that nothing is left to do: what comes to match after this isn't this job's, though it is run again.
  private func finish(in context: ManagedObjectContext) throws {
    checkpoint.isFinished = true
    try checkpoint.write(to: ImportCheckpoint.object(checkpointName, in: context))
    try context.save()
    context.reset()
  }

  private var progress: JobProgress {
    let deleted = checkpoint.counts.deleted
    let records = deleted + kept.count
    return JobProgress(records: records, deleted: deleted, recordsTotal: max(total, records))
  }
}
