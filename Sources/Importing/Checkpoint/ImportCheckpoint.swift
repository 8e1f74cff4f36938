// Rules 3 and 4 of the design, kept here and in BatchWriter: how far a job has come is a managed object of the data
// store, saved by the same save as the rows. A job that is killed at any instruction finds the last commit's
// checkpoint, and goes on from there as if it had never been further.

import Foundation
package import ManagedObjects

/// How far an import has come, as its last commit says.
package struct ImportCheckpoint: Sendable, Hashable {
  /// Where the reader goes on.
  package var position = ReaderPosition.start
  /// What has been done so far.
  package var counts = ImportCounts()
  /// The length of the reject file, in bytes.
  package var rejectsLength: Int64 = 0
  /// What the source looked like when the import began.
  package var identity = ""
  /// Rejected records of which it can't be told which object they are about, and the line of the first; counted where
  /// objects that no record is about are deleted.
  package var unidentified: Int64 = 0
  package var unidentifiedLine: Int64 = 0
  /// Whether the import was finished.
  package var isFinished = false
  /// The bytes of the source, as the import told them at its end: of what is packed they aren't the file's.
  package var bytesTotal: Int64 = 0

  static let texts = ["readerState", "identity"]
  /// To add one, put it at the end: stores of older versions get the column when they are opened, with 0 in it.
  static let numbers = [
    "byteOffset", "line", "record", "inserted", "updated", "unchanged", "rejected", "unresolved", "rejectsLength",
    "finished", "deleted", "skipped", "unidentified", "unidentifiedLine", "bytesTotal",
  ]
  /// Texts that came later, for the same reason.
  static let laterTexts = ["created"]

  /// A checkpoint at the beginning.
  package init() {}

  /// The checkpoint of a job, nil when it hasn't begun.
  package static func read(_ job: String, in context: ManagedObjectContext) throws -> ImportCheckpoint? {
    try find(job, in: context).map { ImportCheckpoint($0) }
  }

  /// Removes what a job keeps in the store, once the queue knows that the job has ended. The context is reset.
  ///
  /// Of a feed, also what its members keep; its own goes last, so that being killed leaves something to go on by.
  package static func remove(_ job: String, in context: ManagedObjectContext) throws {
    let request = FetchRequest<ManagedObject>(
      entityName: ImportModel.checkpointEntity,
      predicate: .comparison(.path("job"), .beginsWith, .constant(.string(FeedPart.prefix(of: job)))))
    let members = try context.fetch(request).map { $0.value(forKey: "job")?.plainText ?? "" }
    context.reset()
    for member in members { try removeOne(member, in: context) }
    try removeOne(job, in: context)
  }

  private static func removeOne(_ job: String, in context: ManagedObjectContext) throws {
    try PendingReferences(context: context, job: job).removeAll()
    try AsideRecords(context: context, job: job, batchSize: 1000).removeAll()
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

  /// Puts the checkpoint into its object, for the context's next save.
  package func write(to object: ManagedObject) throws {
    try object.setValue(.string(position.state), forKey: "readerState")
    try object.setValue(.string(identity), forKey: "identity")
    try object.setValue(.string(CountText.text(counts.created)), forKey: "created")
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

/// What an import has done.
package struct ImportCounts: Sendable, Hashable {
  /// Records read, rejected ones included.
  package var records: Int64 = 0
  package var inserted: Int64 = 0
  package var updated: Int64 = 0
  package var unchanged: Int64 = 0
  package var rejected: Int64 = 0
  /// References that led nowhere at the end of the file and were left empty.
  package var unresolved: Int64 = 0
  /// Objects deleted because the source hasn't got them.
  package var deleted: Int64 = 0
  /// Records passed over, as a filter says.
  package var skipped: Int64 = 0
  /// Objects that were made on the way because a record refers to them, by the relationship's name. They aren't among
  /// ``inserted``, which counts records.
  package var created: [String: Int64] = [:]

  package init() {}

  /// What two imports have done together.
  static func + (a: ImportCounts, b: ImportCounts) -> ImportCounts {
    var sum = a
    sum.records += b.records
    sum.inserted += b.inserted
    sum.updated += b.updated
    sum.unchanged += b.unchanged
    sum.rejected += b.rejected
    sum.unresolved += b.unresolved
    sum.deleted += b.deleted
    sum.skipped += b.skipped
    sum.created.merge(b.created, uniquingKeysWith: +)
    return sum
  }
}

/// Counts by name as a text: `boss 3 country 12`. Names of a model's properties have no spaces.
enum CountText {
  static func text(_ counts: [String: Int64]) -> String {
    if counts.isEmpty { return "" }
    return counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: " ")
  }

  static func counts(_ text: String) -> [String: Int64] {
    let words = text.split(separator: " ")
    var counts: [String: Int64] = [:]
    for index in stride(from: 0, to: words.count - 1, by: 2) { counts[String(words[index])] = Int64(words[index + 1]) }
    return counts
  }
}

extension ImportProgress {
  /// How an import stands that had finished when it was killed, before the queue heard of it.
  init(ended checkpoint: ImportCheckpoint, of source: URL) {
    // An earlier version didn't note the bytes.
    let bytes = checkpoint.bytesTotal > 0 ? checkpoint.bytesTotal : ImportSource.length(of: source) ?? 0
    self.init(counts: checkpoint.counts, bytesDone: bytes, bytesTotal: bytes)
  }
}
