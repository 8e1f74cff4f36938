// Rules 3 and 4 (ARCHITECTURE.md), kept here and in BatchCommit: a job's checkpoint is a managed object of the data store,
// committed by the same save as the rows. A job that is killed at any instruction finds the checkpoint of the last commit
// and continues from there.

import Foundation
package import ManagedObjects

/// The progress of an import at its last commit.
package struct ImportCheckpoint: Sendable, Hashable {
  /// Where the reader continues.
  package var position = ReaderPosition.start
  package var counts = ImportCounts()
  /// The length of the reject file, in bytes.
  package var rejectsLength: Int64 = 0
  /// Identifies the source as it was when the import began; see ``ImportSource/identity()``.
  package var identity = ""
  /// How many rejected records don't say which object they are about, and the line of the first. Counted in modes that
  /// delete objects which no record is about.
  package var unidentified: Int64 = 0
  package var unidentifiedLine: Int64 = 0
  /// Whether the import is finished.
  package var isFinished = false
  /// The length of the source as the import reported it at its end. For a compressed source it isn't the file's.
  package var bytesTotal: Int64 = 0

  static let texts = ["readerState", "identity"]
  /// Add new ones at the end: stores of older versions get the column, with 0 in it, when they are opened.
  static let numbers = [
    "byteOffset", "line", "record", "inserted", "updated", "unchanged", "rejected", "unresolved", "rejectsLength",
    "finished", "deleted", "skipped", "unidentified", "unidentifiedLine", "bytesTotal",
  ]
  /// Texts that were added later, for the same reason.
  static let laterTexts = ["created", "leftOut"]

  /// A checkpoint at the beginning.
  package init() {}

  /// The checkpoint with the identity of the source that it belongs to.
  /// - Throws: ``MappingError/sourceChanged(was:is:)`` if it began with another source.
  func identified(as source: any IdentifiedSource) throws -> ImportCheckpoint {
    var checkpoint = self
    let identity = try source.identity()
    if checkpoint.identity.isEmpty { checkpoint.identity = identity }
    guard checkpoint.identity == identity else {
      throw MappingError.sourceChanged(was: checkpoint.identity, is: identity)
    }
    return checkpoint
  }

  /// The checkpoint of a job; nil if it hasn't begun.
  package static func read(_ job: String, in context: ManagedObjectContext) throws -> ImportCheckpoint? {
    try find(job, in: context).map { ImportCheckpoint($0) }
  }

  /// What a job has committed so far; of a feed, what its members have. nil if it hasn't begun.
  package static func committed(_ job: String, in context: ManagedObjectContext) throws -> ImportCheckpoint? {
    guard var whole = try read(job, in: context) else { return nil }
    for member in try members(of: job, in: context) where !whole.isFinished {
      guard let part = try read(member, in: context) else { continue }
      whole.counts = whole.counts + part.counts
    }
    return whole
  }

  /// Sets the references that the rows of an import which doesn't go on could get at its end.
  package static func setReferences(
    of job: String, _ options: ImportOptions, in context: ManagedObjectContext
  ) throws {
    for job in try members(of: job, in: context) + [job] {
      context.reset()
      guard var checkpoint = try read(job, in: context) else { continue }
      context.reset()
      _ = try PendingReferences(context: context, job: job, batchSize: options.batchSize, options: options.mapping)
        .resolve(ReferenceResolver(context: context), &checkpoint) { false }
    }
    context.reset()
  }

  /// The names of a feed's members.
  private static func members(of job: String, in context: ManagedObjectContext) throws -> [String] {
    try names(beginningWith: FeedPart.prefix(of: job), in: context)
  }

  /// The names of jobs and members that have a checkpoint.
  package static func names(beginningWith prefix: String, in context: ManagedObjectContext) throws -> [String] {
    let request = FetchRequest<ManagedObject>(
      entityName: ImportModel.checkpointEntity,
      predicate: .comparison(.path("job"), .beginsWith, .constant(.string(prefix))))
    return try context.fetch(request).map { $0.value(forKey: "job")?.plainText ?? "" }
  }

  /// Deletes what a job keeps in the store, once the queue has recorded that the job has ended. The context is reset.
  ///
  /// For a feed, also what its members keep. Its own checkpoint is deleted last, so that a killed deletion can be repeated.
  package static func remove(_ job: String, in context: ManagedObjectContext) throws {
    let members = try self.members(of: job, in: context)
    context.reset()
    for member in members { try removeOne(member, in: context) }
    try removeOne(job, in: context)
  }

  private static func removeOne(_ job: String, in context: ManagedObjectContext) throws {
    try PendingReferences(context: context, job: job).removeAll()
    try DeferredRecords(context: context, job: job, batchSize: 1000).removeAll()
    try SeenObjects.removeAll(of: job, in: context)
    guard let object = try find(job, in: context) else { return }
    context.delete(object)
    try context.save()
  }

  /// The object that holds a job's checkpoint; a new one the first time.
  package static func object(_ job: String, in context: ManagedObjectContext) throws -> ManagedObject {
    if let known = try find(job, in: context) { return known }
    let object = try context.insert(ImportModel.checkpointEntity)
    try object.setValue(.string(job), forKey: "job")
    return object
  }

  /// Writes the checkpoint to its object, for the context's next save.
  package func write(to object: ManagedObject) throws {
    try object.setValue(.string(position.state), forKey: "readerState")
    try object.setValue(.string(identity), forKey: "identity")
    try object.setValue(.string(CountText.text(counts.created)), forKey: "created")
    try object.setValue(.string(CountText.text(counts.leftOut)), forKey: "leftOut")
    let numbers: [(String, Int64)] = [
      ("byteOffset", position.byteOffset), ("line", position.line), ("record", position.record),
      ("inserted", counts.inserted), ("updated", counts.updated), ("unchanged", counts.unchanged),
      ("rejected", counts.rejected), ("unresolved", counts.unresolved), ("rejectsLength", rejectsLength),
      ("finished", isFinished ? 1 : 0), ("deleted", counts.deleted), ("skipped", counts.skipped),
      ("unidentified", unidentified), ("unidentifiedLine", unidentifiedLine), ("bytesTotal", bytesTotal),
    ]
    for (name, number) in numbers { try object.setValue(.int(number), forKey: name) }
  }

  private init(_ object: ManagedObject) {
    func number(_ key: String) -> Int64 { object.value(forKey: key).flatMap(Int64.init(slotValue:)) ?? 0 }
    func text(_ key: String) -> String { object.value(forKey: key).flatMap(String.init(slotValue:)) ?? "" }
    position = ReaderPosition(
      byteOffset: number("byteOffset"), line: number("line"), record: number("record"), state: text("readerState"))
    counts.records = position.record
    counts.inserted = number("inserted")
    counts.updated = number("updated")
    counts.unchanged = number("unchanged")
    counts.rejected = number("rejected")
    counts.unresolved = number("unresolved")
    counts.deleted = number("deleted")
    counts.skipped = number("skipped")
    counts.created = CountText.counts(text("created"))
    counts.leftOut = CountText.counts(text("leftOut"))
    unidentified = number("unidentified")
    unidentifiedLine = number("unidentifiedLine")
    bytesTotal = number("bytesTotal")
    rejectsLength = number("rejectsLength")
    identity = text("identity")
    isFinished = number("finished") != 0
  }

  private static func find(_ job: String, in context: ManagedObjectContext) throws -> ManagedObject? {
    var request = FetchRequest<ManagedObject>(entityName: ImportModel.checkpointEntity)
    request.predicate = .equal("job", .string(job))
    request.fetchLimit = 1
    return try context.fetch(request).first
  }
}

extension ImportProgress {
  /// The progress of an import that was killed after its last commit, before the queue recorded its end.
  init(ended checkpoint: ImportCheckpoint, of source: URL) {
    // An earlier version didn't record the bytes.
    let bytes = checkpoint.bytesTotal > 0 ? checkpoint.bytesTotal : ImportSource.length(of: source) ?? 0
    self.init(counts: checkpoint.counts, bytesDone: bytes, bytesTotal: bytes)
  }
}
