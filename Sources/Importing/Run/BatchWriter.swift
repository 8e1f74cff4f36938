// Rules 3 and 7 of the design: a batch's objects and the checkpoint are saved together, and every record of the batch
// is an object or a line of the reject file.

import ManagedObjects

/// Turns converted rows into objects of a context and saves them, batch by batch.
final class BatchWriter {
  /// How often a batch is applied anew because somebody else wrote the same rows meanwhile.
  private static let retries = 3
  let context: ManagedObjectContext
  let entity: EntityDescription
  let mode: ImportOptions.Mode
  let job: String
  private let rejects: RejectFile
  let resolver: ReferenceResolver
  let pending: PendingReferences
  let aside: AsideRecords
  let options: MappingOptions
  /// What is deleted at the end, in a mode that does so.
  let absent: AbsentObjects?
  /// Whether batches before have kept references; nil until somebody has to know.
  var hasKept: Bool?
  /// Whether batches before have set records aside; nil until somebody has to know.
  var hasAside: Bool?
  /// The file, where the end of its import is to be remembered.
  var known: KnownFile?
  private(set) var checkpoint: ImportCheckpoint
  /// The objects of the last batch, to be let go of elsewhere.
  private var remains: DetachedObjects?
  /// The first rejection's message, for the error when there are too many.
  private(set) var firstRejection = ""

  init(
    context: ManagedObjectContext, entity: EntityDescription, mode: ImportOptions.Mode, job: String,
    rejects: RejectFile, checkpoint: ImportCheckpoint, batchSize: Int, rules: MappingRules,
    allowsEmpty: Bool
  ) {
    self.context = context
    self.entity = entity
    self.mode = mode
    self.job = job
    self.rejects = rejects
    self.checkpoint = checkpoint
    options = rules.options
    aside = AsideRecords(context: context, job: job, batchSize: batchSize)
    resolver = ReferenceResolver(context: context)
    absent =
      mode.deletesOthers
      ? AbsentObjects(
        context: context, mode: mode, job: job, rules: rules, batchSize: batchSize, allowsEmpty: allowsEmpty)
      : nil
    var pending = PendingReferences(context: context, job: job, batchSize: batchSize, options: rules.options)
    pending.seen = absent?.seen
    resolver.seen = absent?.seen
    self.pending = pending
  }

  /// Writes one batch: objects, references, rejects, checkpoint, in one save.
  func write(_ batch: ConvertedBatch) throws {
    defer { remains = context.resetReturningObjects() }
    if mode == .insert, batch.mapping.isWithoutRelationships { return try insert(batch) }
    if batch.newRows != nil, try writeCompared(batch) { return }
    try apply(batch, .inTheFile)
  }

  /// The objects of the last batch, which nobody touches any more.
  func takeRemains() -> DetachedObjects? {
    defer { remains = nil }
    return remains
  }

  /// Ends the import: records that were set aside are applied or rejected, references to records that came later in the
  /// file are set, objects that it doesn't have are deleted where the mode says so, and the checkpoint says so.
  /// - Parameters:
  ///   - bytes: the length of the source, as the import tells it.
  ///   - told: is called after each save.
  /// - Returns: notes for a person; nil when `shouldStop` said so before the end.
  func finish(of bytes: Int64, shouldStop: () -> Bool, told: () throws -> Void) throws -> [String]? {
    defer { context.reset() }
    guard try settleAside(shouldStop: shouldStop, told: told) else { return nil }
    try absent?.check(checkpoint)
    let before = checkpoint.counts.unresolved
    guard let lost = try pending.resolve(resolver, &checkpoint, shouldStop: shouldStop) else { return nil }
    var absence: [String] = []
    if let absent {
      guard let told = try absent.delete(&checkpoint, shouldStop: shouldStop) else { return nil }
      absence = told
    }
    var next = checkpoint
    next.isFinished = true
    next.bytesTotal = bytes
    try next.write(to: ImportCheckpoint.object(job, in: context))
    try known?.keep(in: context)
    try context.saveValidated()
    checkpoint = next
    var notes = lost.sorted { $0.key < $1.key }.map { name, what in
      "\(what.count) reference(s) \(name) lead nowhere and were left empty, such as \(what.examples.joined(separator: ", "))"
    }
    notes += checkpoint.counts.created.sorted { $0.key < $1.key }.map { name, count in
      // One that nested objects have may be another entity's.
      let relationship =
        entity.relationshipsByName[name]
        ?? context.model.entities.lazy.compactMap {
          $0.relationshipsByName[name]
        }.first
      let destination = relationship?.destinationEntity.name ?? "object"
      return "created \(count) \(destination) on the way, for \(name)"
    }
    if before > 0 { notes.append("\(before) reference(s) were left empty before the import was interrupted") }
    return notes + absence
  }

  // MARK: New objects only

  /// The object of a row.
  private struct Written {
    let row: Int
    let object: ManagedObject
  }

  private func insert(_ batch: ConvertedBatch) throws {
    // Asked for before there are new objects, so that the look-up needn't take them into account.
    let record = try ImportCheckpoint.object(job, in: context)
    var rejections = batch.rejections
    if let new = batch.newRows, try context.insert(new) {
      do {
        return try save(batch, rejections, Tally(inserted: Int64(new.count)), record)
      } catch ManagedObjectError.constraintConflicts {
        // As objects, the records at fault can be told from the others.
        context.removeNewRows()
      }
    }
    batch.makeRows()
    let rows = batch.rows
    let objects = try context.insert(entity, count: rows.count) { rows[$0].values }
    if batch.isChecked {
      do {
        return try save(batch, rejections, Tally(inserted: Int64(objects.count)), record)
      } catch ManagedObjectError.constraintConflicts(let conflicts) {
        var written = Self.written(objects)
        try reject(conflicts, &written, batch, &rejections)
        return try saveInserted(batch, &written, &rejections, record)
      }
    }
    var written = Self.written(objects)
    reject(invalid: &written, batch, &rejections)
    try saveInserted(batch, &written, &rejections, record)
  }

  private static func written(_ objects: ContiguousArray<ManagedObject>) -> [Written] {
    objects.enumerated().map { Written(row: $0.offset, object: $0.element) }
  }

  /// Saves, without the records that the store refuses.
  private func saveInserted(
    _ batch: ConvertedBatch, _ written: inout [Written], _ rejections: inout [Rejection], _ record: ManagedObject
  ) throws {
    while true {
      do {
        return try save(batch, rejections, Tally(inserted: Int64(written.count)), record)
      } catch ManagedObjectError.constraintConflicts(let conflicts) {
        try reject(conflicts, &written, batch, &rejections)
      }
    }
  }

  /// Takes out what wouldn't pass validation, so that one bad record doesn't keep a batch from being saved.
  private func reject(invalid written: inout [Written], _ batch: ConvertedBatch, _ rejections: inout [Rejection]) {
    var refused: Set<Int> = []
    var failures: [ValidationFailure] = []
    for (place, item) in written.enumerated() {
      item.object.validate(into: &failures)
      guard let failure = failures.first else { continue }
      failures.removeAll(keepingCapacity: true)
      refused.insert(place)
      rejections.append(
        batch.source.rejection(
          batch.rows[item.row].record, column: failure.property, code: failure.code, message: failure.description))
    }
    discard(refused, from: &written)
  }

  /// Takes out records whose values the store has already.
  private func reject(
    _ conflicts: [ConstraintConflict], _ written: inout [Written], _ batch: ConvertedBatch,
    _ rejections: inout [Rejection]
  ) throws {
    let byID = Dictionary(conflicts.map { ($0.objectID, $0) }) { first, _ in first }
    var refused: Set<Int> = []
    for (place, item) in written.enumerated() {
      guard let conflict = byID[item.object.objectID] else { continue }
      refused.insert(place)
      rejections.append(batch.duplicate(batch.rows[item.row], conflict.constraint, item.object.slots, entity))
    }
    // A conflict of something else than this batch's records can't be mended here.
    guard !refused.isEmpty else { throw ManagedObjectError.constraintConflicts(conflicts) }
    discard(refused, from: &written)
  }

  private func discard(_ places: Set<Int>, from written: inout [Written]) {
    guard !places.isEmpty else { return }
    for place in places { context.delete(written[place].object) }
    written = written.enumerated().filter { !places.contains($0.offset) }.map(\.element)
  }

  // MARK: Objects that may be there, and references

  /// Applies a batch's rows and saves what came of them.
  /// - Returns: whether anything did, which of records that were set aside can't be said before.
  @discardableResult
  func apply(_ batch: ConvertedBatch, _ phase: RowApplier.Phase) throws -> Bool {
    var refused: [Int: Rejection] = [:]
    var retries = 0
    while true {
      let record = try ImportCheckpoint.object(job, in: context)
      let mayHaveKept = try hasKept ?? !pending.isEmpty()
      let mayHaveAside = try hasAside ?? !aside.isEmpty()
      let rows = RowApplier(
        context: context, entity: entity, mode: mode, batch: batch, phase: phase, pending: pending, aside: aside)
      try rows.apply(excluding: refused, resolver, mayHaveKept: mayHaveKept, mayHaveAside: mayHaveAside)
      if phase != .inTheFile, refused.isEmpty, rows.applied.isEmpty, rows.rejections.isEmpty { return false }
      let tally = try absent?.seen.mark(rows) ?? rows.tally
      do {
        try save(batch, batch.rejections + refused.values + rows.rejections, tally, record)
        hasKept = mayHaveKept || rows.keepsReferences
        hasAside = mayHaveAside || rows.keepsAside
        if rows.changesTargets { resolver.forget() }
        return true
      } catch ManagedObjectError.constraintConflicts(let conflicts) {
        if retries < Self.retries, rows.hasMissedObjects(conflicts) {
          retries += 1
        } else {
          let more = rows.refusals(conflicts)
          // A conflict of something else than this batch's records can't be mended here.
          guard !more.isEmpty else { throw ManagedObjectError.constraintConflicts(conflicts) }
          refused.merge(more) { first, _ in first }
        }
      } catch ManagedObjectError.mergeConflicts where retries < Self.retries {
        // Somebody else changed one of the rows between reading and saving it.
        retries += 1
      } catch ManagedObjectError.brokenReferences where retries < Self.retries {
        // Somebody else deleted an object that was found in the store before.
        retries += 1
      }
      context.reset()
      resolver.forget()
    }
  }

  // MARK: Saving

  /// Saves what the context holds, with the checkpoint that counts it. Rejects are on the disk before.
  func save(
    _ batch: ConvertedBatch, _ rejections: [Rejection], _ tally: Tally, _ record: ManagedObject
  ) throws {
    let rejections = rejections.sorted { $0.record < $1.record }
    // What an attempt before has written.
    try rejects.truncate(to: checkpoint.rejectsLength)
    rejects.append(rejections)
    try rejects.flush()
    var next = checkpoint
    if !batch.isSetAside { next.position = batch.source.end }
    next.rejectsLength = rejects.length
    next.counts.records = next.position.record
    next.counts.inserted += tally.inserted
    next.counts.updated += tally.updated
    next.counts.unchanged += tally.unchanged
    next.counts.deleted += tally.deleted
    next.counts.skipped += batch.skipped
    next.counts.rejected += Int64(rejections.count)
    if next.unidentified == 0 { next.unidentifiedLine = tally.unidentifiedLine }
    next.unidentified += tally.unidentified
    if !tally.created.isEmpty { next.counts.created.merge(tally.created, uniquingKeysWith: +) }
    try next.write(to: record)
    try context.saveValidated()
    checkpoint = next
    if firstRejection.isEmpty, let first = rejections.first {
      firstRejection = "line \(first.line): \(first.message)"
    }
  }
}

/// What became of the rows of a batch.
struct Tally {
  var inserted: Int64 = 0
  var updated: Int64 = 0
  var unchanged: Int64 = 0
  var deleted: Int64 = 0
  /// Rejected records that don't say which object they are about, and the line of the first; see ``RejectedKeys``.
  var unidentified: Int64 = 0
  var unidentifiedLine: Int64 = 0
  /// Objects made because rows refer to them, by relationship.
  var created: [String: Int64] = [:]
}

extension ConvertedBatch {
  /// The rejection of a record whose object can't be, because there is one of the same key.
  func duplicate(
    _ row: Row, _ constraint: [String], _ values: ContiguousArray<Value>, _ entity: EntityDescription
  ) -> Rejection {
    let columns = constraint.joined(separator: ", ")
    let key = constraint.map { name in entity.slot(of: name).map { values[$0].plainText.shown } ?? "" }.joined(
      separator: ", ")
    return rejection(
      row, column: columns, code: "duplicate_key",
      message: "there is a \(entity.name) with \(columns) “\(key)” already")
  }
}
