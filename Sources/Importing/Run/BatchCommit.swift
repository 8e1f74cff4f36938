// Rules 3 and 7 (ARCHITECTURE.md): a batch's objects and the checkpoint are saved together, and every record of the batch
// is an object or an entry of the reject file, which is durable before the checkpoint that counts it.

import ManagedObjects

/// What became of the rows of a batch.
struct Tally {
  var inserted: Int64 = 0
  var updated: Int64 = 0
  var unchanged: Int64 = 0
  var deleted: Int64 = 0
  /// Rejected records that don't say which object they are about, and the line of the first; see ``RejectedKeys``.
  var unidentified: Int64 = 0
  var unidentifiedLine: Int64 = 0
  /// Objects created because rows refer to them, by relationship.
  var created: [String: Int64] = [:]

  /// Adds what became of other rows.
  mutating func add(_ other: Tally) {
    inserted += other.inserted
    updated += other.updated
    unchanged += other.unchanged
    deleted += other.deleted
    if unidentified == 0 { unidentifiedLine = other.unidentifiedLine }
    unidentified += other.unidentified
    created.merge(other.created, uniquingKeysWith: +)
  }
}

/// Saves batches with the checkpoint, and owns the checkpoint and the reject file.
final class BatchCommit {
  private let context: ManagedObjectContext
  private let job: String
  private let rejects: RejectFile
  private let lineage: LineageRecorder?
  /// The checkpoint of the last save.
  private(set) var checkpoint: ImportCheckpoint
  /// The message of the first rejection, for the error when there are too many.
  private(set) var firstRejection = ""

  init(
    _ context: ManagedObjectContext, job: String, _ rejects: RejectFile, from checkpoint: ImportCheckpoint,
    _ lineage: LineageRecorder? = nil
  ) {
    self.context = context
    self.job = job
    self.rejects = rejects
    self.lineage = lineage
    self.checkpoint = checkpoint
  }

  /// The object that holds the checkpoint. Fetch it before the context has changes: the fetch is cheaper then.
  func checkpointObject() throws -> ManagedObject { try ImportCheckpoint.object(job, in: context) }

  /// Saves the context's changes with the checkpoint that counts them, after the rejects are on disk.
  ///
  /// - Parameter object: the one that holds the checkpoint.
  func save(
    _ batch: ConvertedBatch, rejecting rejections: [Rejection], _ tally: Tally, in object: ManagedObject
  ) throws {
    let rejections = rejections.sorted { $0.record < $1.record }
    // Removes what a failed attempt wrote.
    try rejects.truncate(to: checkpoint.rejectsLength)
    rejects.append(rejections)
    try rejects.flush()
    var next = checkpoint
    if !batch.isDeferred { next.position = batch.source.end }
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
    try next.write(to: object)
    try lineage?.record()
    try context.saveValidated()
    checkpoint = next
    if firstRejection.isEmpty, let first = rejections.first {
      firstRejection = "line \(first.line): \(first.message)"
    }
  }

  /// Runs steps that save the checkpoint themselves, and takes over what they last saved, also when a later one fails.
  func advance<T>(_ steps: (inout ImportCheckpoint) throws -> T) rethrows -> T { try steps(&checkpoint) }

  /// Saves the checkpoint of a finished import.
  /// - Parameter digest: of the file, where it is recorded.
  func finish(bytes: Int64, known: KnownFile?, digest: String?) throws {
    var next = checkpoint
    next.isFinished = true
    next.bytesTotal = bytes
    try next.write(to: checkpointObject())
    try known?.keep(in: context)
    if let digest { try lineage?.finish(digest: digest) }
    try context.saveValidated()
    checkpoint = next
  }
}
