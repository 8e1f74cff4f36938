import ManagedObjects

/// Turns converted batches into objects of a context and saves them, each in the fastest way that its rows allow.
final class BatchWriter {
  /// How often a batch is applied again because another writer changed the same rows.
  private static let retries = 3
  private let target: BatchTarget
  private let commit: BatchCommit
  private let inserter: BatchInserter
  private let comparison: BatchComparison
  /// The file, where imported files are to be recognised later.
  private let known: KnownFile?
  /// What becomes of a cursor at the end.
  private let cursor: CursorMove?
  /// The hash of the file, where rows are recorded to come from it.
  private let digest: SourceDigest?
  /// The objects of the last batch, to be released on another thread.
  private var detached: DetachedObjects?

  private var context: ManagedObjectContext { target.context }
  var checkpoint: ImportCheckpoint { commit.checkpoint }
  var firstRejection: String { commit.firstRejection }

  init(
    _ target: BatchTarget, _ rejects: RejectFile, from checkpoint: ImportCheckpoint, known: KnownFile?,
    cursor: CursorMove? = nil, digest: SourceDigest? = nil, _ resolution: RejectResolution? = nil
  ) {
    self.target = target
    self.known = known
    self.cursor = cursor
    self.digest = digest
    commit = BatchCommit(
      target.context, job: target.job, rejects, from: checkpoint, target.lineage, resolution,
      examples: target.examples.map { ($0, of: target.entity) })
    inserter = BatchInserter(target, commit)
    comparison = BatchComparison(target, commit)
  }

  /// Writes one batch: objects, references, rejects, checkpoint, in one save.
  func write(_ batch: ConvertedBatch) throws {
    defer { detached = context.resetReturningObjects() }
    if target.mode == .insert, batch.mapping.isWithoutRelationships { return try inserter.insert(batch) }
    if batch.flatRows != nil {
      if target.examples?.isFull == false {
        try batch.makeRows()
      } else if try comparison.write(batch) {
        return
      }
    }
    try apply(batch, .reading)
  }

  /// The objects of the last batch, which are not used any more.
  func takeDetachedObjects() -> DetachedObjects? {
    defer { detached = nil }
    return detached
  }

  /// Applies a batch's rows and saves the result.
  /// - Returns: whether any row was applied or rejected. Deferred records may have to wait longer.
  @discardableResult
  private func apply(_ batch: ConvertedBatch, _ phase: RowApplier.Phase) throws -> Bool {
    var refused: [Int: Rejection] = [:]
    var retries = 0
    while true {
      target.lineage?.begin()
      let record = try commit.checkpointObject()
      let mayHaveReferences = try target.backlog.mayHaveReferences()
      let mayHaveRecords = try target.backlog.mayHaveRecords()
      let applier = RowApplier(target, batch, phase)
      try applier.apply(excluding: refused, mayHaveReferences: mayHaveReferences, mayHaveRecords: mayHaveRecords)
      if phase != .reading, refused.isEmpty, applier.isIdle { return false }
      let tally = try target.absent?.seen.mark(applier) ?? applier.tally
      if let lineage = target.lineage { applier.note(in: lineage) }
      do {
        try commit.save(
          batch, rejecting: batch.rejections + refused.values + applier.rejections, tally, in: record,
          leaving: applier.waitingRecords)
        target.backlog.noteSaved(references: applier.leavesReferences, records: applier.defersRecords)
        if applier.changesTargets { target.resolver.forget() }
        return true
      } catch ManagedObjectError.constraintConflicts(let conflicts) {
        if retries < Self.retries, applier.hasMissedObjects(conflicts) {
          retries += 1
        } else {
          let more = applier.refusals(conflicts)
          // A conflict of anything else than this batch's records can't be resolved here.
          guard !more.isEmpty else { throw ManagedObjectError.constraintConflicts(conflicts) }
          refused.merge(more) { first, _ in first }
        }
      } catch ManagedObjectError.validation(let failures) {
        let more = try applier.refusals(failures)
        guard !more.isEmpty else { throw ManagedObjectError.validation(failures) }
        refused.merge(more) { first, _ in first }
      } catch ManagedObjectError.mergeConflicts where retries < Self.retries {
        // Another writer changed one of the rows between reading and saving it.
        retries += 1
      } catch ManagedObjectError.brokenReferences where retries < Self.retries {
        // Another writer deleted an object that was found in the store before.
        retries += 1
      }
      context.reset()
      target.resolver.forget()
    }
  }

  /// See ``BatchCommit/dropUnsavedRejects()``.
  func dropUnsavedRejects() throws { try commit.dropUnsavedRejects() }

  // MARK: The end

  /// Ends the import: applies or rejects deferred records, sets references to records that came later in the file, deletes
  /// the objects that the source doesn't have where the mode says so, and saves the checkpoint as finished.
  ///
  /// - Parameters:
  ///   - bytes: the length of the source, as the import reports it.
  ///   - afterSave: called after each save of deferred records.
  ///   - judge: called once every record has become an object or a reject; throws if the import mustn't end well.
  /// - Returns: notes for a person; nil when `shouldStop` returned true before the end.
  func finish(
    bytes: Int64, shouldStop: () -> Bool, afterSave: () throws -> Void, judge: () throws -> Void
  ) throws -> [String]? {
    defer { context.reset() }
    guard try settleDeferred(shouldStop: shouldStop, afterSave: afterSave) else { return nil }
    try judge()
    try target.absent?.check(checkpoint)
    try target.absent?.checkValues(checkpoint)
    context.reset()
    showWhatStays()
    let unresolvedBefore = checkpoint.counts.unresolved
    let unresolved = try commit.advance { checkpoint in
      try target.backlog.references.resolve(target.resolver, &checkpoint, shouldStop: shouldStop)
    }
    guard let unresolved else { return nil }
    var deletionNotes: [String] = []
    if let absent = target.absent {
      let notes = try commit.advance { checkpoint in try absent.delete(&checkpoint, shouldStop: shouldStop) }
      guard let notes else { return nil }
      deletionNotes = notes
    }
    try commit.finish(bytes: bytes, known: known, cursor: cursor, digest: try digest?.value())
    var notes = unresolved.notes + createdNotes
    if unresolvedBefore > 0 {
      notes.append("\(unresolvedBefore) reference(s) were left empty before the import was interrupted")
    }
    return notes + deletionNotes
  }

  /// Lets references find all objects, if the import is going to delete none.
  private func showWhatStays() {
    if checkpoint.unidentified > 0 { target.resolver.showAll() }
  }

  private var createdNotes: [String] {
    checkpoint.counts.created.sorted { $0.key < $1.key }.map { name, count in
      let destination = relationship(name)?.destinationEntity.name ?? "object"
      return "created \(count) \(destination) on the way, for \(name)"
    }
  }

  /// The entity's relationship of that name, or the nearest of those to which its relationships lead: nested objects have
  /// theirs.
  private func relationship(_ name: String) -> RelationshipDescription? {
    var entities = [target.entity]
    var place = 0
    while place < entities.count {
      let relationships = entities[place].relationshipsByName
      if let found = relationships[name] { return found }
      for (_, next) in relationships.sorted(by: { $0.key < $1.key })
      where !entities.contains(where: { $0 === next.destinationEntity }) {
        entities.append(next.destinationEntity)
      }
      place += 1
    }
    return nil
  }

  /// Applies the records that were deferred, now that all records of the file have been read, and rejects those that still
  /// lack an object.
  /// - Returns: false when `shouldStop` returned true before the end.
  private func settleDeferred(shouldStop: () -> Bool, afterSave: () throws -> Void) throws -> Bool {
    guard try target.backlog.mayHaveRecords() else { return true }
    var options = target.options
    // The recipe's demands on columns were checked when the records were read. One record alone may not meet them.
    options.schema.columns = .discardValue
    for phase in [RowApplier.Phase.settling, .rejecting] {
      while true {
        guard let progressed = try applyDeferred(phase, options, shouldStop, afterSave) else { return false }
        if !progressed { break }
      }
    }
    target.backlog.noteRecordsSettled()
    return true
  }

  /// Applies all deferred records once, in file order.
  /// - Returns: whether any was applied or rejected; nil when `shouldStop` returned true.
  private func applyDeferred(
    _ phase: RowApplier.Phase, _ options: MappingOptions, _ shouldStop: () -> Bool, _ afterSave: () throws -> Void
  ) throws -> Bool? {
    var progressed = false
    var last: Int64 = -1
    while true {
      if shouldStop() { return nil }
      context.reset()
      showWhatStays()
      let records = try target.backlog.records.next(after: last)
      guard let end = records.last?.kept.record else { return progressed }
      last = end
      let columns = Set(records.flatMap(\.columns)).sorted()
      let mapping = try RecordMapping(target.entity, columns: columns, options: options, mayNest: true)
      if try apply(try ConvertedBatch(records, of: mapping, mode: target.mode), phase) {
        progressed = true
        try afterSave()
      }
    }
  }
}
