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
  /// What is noted with the rows, if the records are the rejects of another job.
  private let resolution: RejectResolution?
  private let lineage: LineageRecorder?
  /// What takes some of the objects, and of which entity.
  private let examples: (taker: ImportExamples, entity: EntityDescription)?
  /// The checkpoint of the last save.
  private(set) var checkpoint: ImportCheckpoint
  /// The message of the first rejection, for the error when there are too many.
  private(set) var firstRejection = ""

  init(
    _ context: ManagedObjectContext, job: String, _ rejects: RejectFile, from checkpoint: ImportCheckpoint,
    _ lineage: LineageRecorder? = nil, _ resolution: RejectResolution? = nil,
    examples: (ImportExamples, of: EntityDescription)? = nil
  ) {
    self.examples = examples.map { ($0, $1) }
    self.resolution = resolution
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
  /// - Parameters:
  ///   - object: the one that holds the checkpoint.
  ///   - waiting: the records that are neither applied nor rejected yet.
  func save(
    _ batch: ConvertedBatch, rejecting rejections: [Rejection], _ tally: Tally, in object: ManagedObject,
    leaving waiting: Set<Int> = []
  ) throws {
    var rejections = rejections.sorted { $0.record < $1.record }
    if let resolution { rejections = try resolution.numbered(rejections, of: batch) }
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
    if !batch.leftOut.isEmpty { next.counts.leftOut.merge(batch.leftOut, uniquingKeysWith: +) }
    next.counts.rejected += Int64(rejections.count)
    if next.unidentified == 0 { next.unidentifiedLine = tally.unidentifiedLine }
    next.unidentified += tally.unidentified
    if !tally.created.isEmpty { next.counts.created.merge(tally.created, uniquingKeysWith: +) }
    try next.write(to: object)
    try lineage?.record()
    let shown = examples.map { $0.taker.examples(of: $0.entity, in: context) } ?? []
    if let resolution {
      try resolution.save(batch, without: Set(rejections.map(\.record)).union(waiting), in: context)
    } else {
      try context.saveValidated()
    }
    examples?.taker.keep(shown)
    checkpoint = next
    if firstRejection.isEmpty, let first = rejections.first {
      firstRejection = "line \(first.line): \(first.message)"
    }
  }

  /// Removes what a save that failed has left in the reject file, of an import that ends so. The store says how much that is:
  /// the save may have failed after its commit.
  func dropUnsavedRejects() throws {
    context.reset()
    let saved = try ImportCheckpoint.read(job, in: context)
    context.reset()
    try rejects.cut(to: saved?.rejectsLength ?? 0)
  }

  /// Runs steps that save the checkpoint themselves, and takes over what they last saved, also when a later one fails.
  func advance<T>(_ steps: (inout ImportCheckpoint) throws -> T) rethrows -> T { try steps(&checkpoint) }

  /// Saves the checkpoint of a finished import.
  /// - Parameter digest: of the file, where it is recorded.
  func finish(bytes: Int64, known: KnownFile?, cursor: CursorMove?, digest: String?) throws {
    var next = checkpoint
    next.isFinished = true
    next.bytesTotal = bytes
    try next.write(to: checkpointObject())
    try known?.keep(in: context)
    try cursor?.write(in: context)
    if let digest { try lineage?.finish(digest: digest) }
    try context.saveValidated()
    checkpoint = next
  }
}
