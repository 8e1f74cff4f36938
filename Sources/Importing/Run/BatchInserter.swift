import ManagedObjects

/// Writes batches of records that all become new objects without relationships: the fastest way.
///
/// Rows go to the store as they are, without objects, where that is possible. If the store refuses one of them, objects are
/// made of all, since with objects the records at fault can be told from the others.
struct BatchInserter {
  private let context: ManagedObjectContext
  private let entity: EntityDescription
  private let commit: BatchCommit
  private let lineage: LineageRecorder?
  private let examples: ImportExamples?

  init(_ target: BatchTarget, _ commit: BatchCommit) {
    context = target.context
    entity = target.entity
    lineage = target.lineage
    examples = target.examples
    self.commit = commit
  }

  /// The object of a row.
  private struct Inserted {
    let row: Int
    let object: ManagedObject
  }

  /// Inserts a batch's rows and saves them without the records that are invalid or that the store refuses.
  func insert(_ batch: ConvertedBatch) throws {
    // Fetched before there are new objects, so that the fetch needn't take them into account.
    let record = try commit.checkpointObject()
    var rejections = batch.rejections
    lineage?.begin()
    if examples?.isFull ?? true, let rows = batch.flatRows, try note(rows, of: batch), try context.insert(rows) {
      do {
        return try commit.save(batch, rejecting: rejections, Tally(inserted: Int64(rows.count)), in: record)
      } catch ManagedObjectError.constraintConflicts {
        context.removeNewRows()
      }
    }
    lineage?.begin()
    try batch.makeRows()
    let rows = batch.rows
    let objects = try context.insert(entity, count: rows.count) { rows[$0].values }
    var inserted = objects.enumerated().map { Inserted(row: $0.offset, object: $0.element) }
    if !batch.isChecked { rejectInvalid(&inserted, batch, &rejections) }
    if let lineage { for item in inserted { lineage.note(item.object, batch.place(of: batch.rows[item.row])) } }
    while true {
      do {
        return try commit.save(batch, rejecting: rejections, Tally(inserted: Int64(inserted.count)), in: record)
      } catch ManagedObjectError.constraintConflicts(let conflicts) {
        try reject(conflicts, &inserted, batch, &rejections)
      }
    }
  }

  /// Notes where rows come from.
  /// - Returns: false when that takes objects.
  private func note(_ rows: NewRows, of batch: ConvertedBatch) throws -> Bool {
    guard let lineage, lineage.contains(rows.entity) else { return true }
    guard let numbers = try context.obtainNumbers(for: rows) else { return false }
    lineage.noteInserted(rows, numbers: numbers) {
      batch.fingerprintSum(ofFlat: $0)
    } place: {
      batch.place(ofFlat: $0)
    }
    return true
  }

  /// Rejects what wouldn't pass validation, so that one bad record doesn't prevent the batch from being saved.
  private func rejectInvalid(_ inserted: inout [Inserted], _ batch: ConvertedBatch, _ rejections: inout [Rejection]) {
    var refused: Set<Int> = []
    var failures: [ValidationFailure] = []
    for (place, item) in inserted.enumerated() {
      item.object.validate(into: &failures)
      guard let failure = failures.first else { continue }
      failures.removeAll(keepingCapacity: true)
      refused.insert(place)
      rejections.append(
        batch.source.rejection(
          batch.rows[item.row].record, column: failure.property, code: failure.code, message: failure.description))
    }
    discard(refused, from: &inserted)
  }

  /// Rejects records whose key the store has already.
  private func reject(
    _ conflicts: [ConstraintConflict], _ inserted: inout [Inserted], _ batch: ConvertedBatch,
    _ rejections: inout [Rejection]
  ) throws {
    let byID = Dictionary(conflicts.map { ($0.objectID, $0) }) { first, _ in first }
    var refused: Set<Int> = []
    for (place, item) in inserted.enumerated() {
      guard let conflict = byID[item.object.objectID] else { continue }
      refused.insert(place)
      rejections.append(batch.duplicate(batch.rows[item.row], conflict.constraint, item.object.slots, entity))
    }
    // A conflict of anything else than this batch's records can't be resolved here.
    guard !refused.isEmpty else { throw ManagedObjectError.constraintConflicts(conflicts) }
    discard(refused, from: &inserted)
  }

  private func discard(_ places: Set<Int>, from inserted: inout [Inserted]) {
    guard !places.isEmpty else { return }
    for place in places { context.delete(inserted[place].object) }
    inserted = inserted.enumerated().filter { !places.contains($0.offset) }.map(\.element)
  }
}
