// An undo may itself be undone, and that again. What depends on a job beside its rows follows: that its file is known, and which
// rejects it has resolved. They are marked, not removed, so that they come back with the rows: the entity of a known file gets a
// prefix, and the number of the job that resolved a reject is negative. `undoneBy` of a job is negative while an undo is under
// way: the number of that one.

import ManagedObjects

/// Whether a job's changes are in the store.
struct JobStanding {
  /// What is marked by one save.
  private static let page = 1_000
  /// Before the entity of a known file whose import is undone.
  private static let undonePrefix = "undone "

  private let context: ManagedObjectContext
  private let job: String

  /// - Parameter job: names the job that is taken back.
  init(of job: String, in context: ManagedObjectContext) {
    self.job = job
    self.context = context
  }

  /// Whether a job has begun, and hasn't come to its end or been given up.
  static func isUnderWay(_ job: String, in context: ManagedObjectContext) throws -> Bool {
    if let checkpoint = try ImportCheckpoint.read(job, in: context) { return !checkpoint.isFinished }
    let members = FetchRequest<ManagedObject>(
      entityName: ImportModel.checkpointEntity,
      predicate: .comparison(.path("job"), .beginsWith, .constant(.string(FeedPart.prefix(of: job)))), fetchLimit: 1)
    return try context.count(for: members) > 0
  }

  /// Notes, with the context's next save, that another job begins to take this one back. Until that one has ended, this one can't
  /// save.
  /// - Returns: the job that had taken it back before; its number is negative if it was given up when it had taken back
  ///   something. 0 if there is none.
  /// - Throws: ``LineageError`` if it hasn't ended, or if it is being taken back.
  func beginUndo(by number: Int64) throws -> Int64 {
    guard let object = try LineageRecorder.find(job, "", in: context) else { return 0 }
    let former = object.number("undoneBy")
    if former == -number { return 0 }
    if former < 0, try Self.isUnderWay(LineageRecorder.name(of: -former, beside: job), in: context) {
      throw LineageError.undoUnderWay(by: -former)
    }
    if try Self.isUnderWay(job, in: context) { throw LineageError.jobUnderWay }
    // A job that saves before this is saved changes the same object, which is a conflict.
    try object.set(["undoneBy": -number])
    if former < 0, try LineageRecorder.find(LineageRecorder.name(of: -former, beside: job), "", in: context) == nil {
      return 0
    }
    return former
  }

  /// A job whose standing changes.
  private struct Change {
    let object: ManagedObject
    let stands: Bool
    let undoneBy: Int64
  }

  /// The jobs whose standing changes by the undo of this one: itself first, then the one that it had taken back, and so on.
  private func changes(by number: Int64) throws -> [Change] {
    guard let object = try LineageRecorder.find(job, "", in: context) else { return [] }
    var changes = [Change(object: object, stands: false, undoneBy: number)]
    while let last = changes.last, last.object.number("undoes") != 0 {
      let name = LineageRecorder.name(of: last.object.number("undoes"), beside: job)
      guard changes.count < Self.page, let next = try LineageRecorder.find(name, "", in: context) else { break }
      let own = last.object.number("number")
      // Where another undo stands, nothing changes.
      if last.stands {
        guard next.number("undoneBy") <= 0 else { break }
        changes.append(Change(object: next, stands: false, undoneBy: own))
      } else {
        guard next.number("undoneBy") == own else { break }
        changes.append(Change(object: next, stands: true, undoneBy: 0))
      }
    }
    return changes
  }

  /// Marks the rejects that the job has resolved as open, or as resolved again: a page by each save. To be called before
  /// ``endUndo(by:former:)``; a call that was killed can be repeated.
  func moveRejects(by number: Int64, save: () throws -> Void) throws {
    guard let root = try changes(by: number).last, root.object.number("undoes") == 0 else { return }
    let (resolver, stands) = (root.object.number("number"), root.stands)
    if resolver == 0 { return }
    let from = stands ? -resolver : resolver
    var last: ManagedObjectID?
    while true {
      let rest = last.map { FetchPredicate.comparison(.path("SELF"), .greater, .constant(.object($0))) }
      let ofQueue = FetchPredicate.comparison(
        .path("job"), .beginsWith, .constant(.string(LineageRecorder.queue(of: job))))
      let found = try context.fetch(
        FetchRequest<ManagedObject>(
          entityName: ImportModel.resolvedEntity,
          predicate: .and([.equal("by", .int(from)), ofQueue, rest].compactMap { $0 }),
          sortDescriptors: [FetchSortDescriptor("objectID")], fetchLimit: Self.page))
      guard let end = found.last else { return }
      last = end.objectID
      for object in found { try object.set(["by": -from]) }
      try save()
    }
  }

  /// Notes, with the context's next save, that the job is taken back.
  /// - Parameters:
  ///   - number: of the job that takes it back.
  ///   - former: of the one that had taken it back before, if nothing was left for this one; nil if it took something back.
  func endUndo(by number: Int64, former: Int64?) throws {
    if let former {
      try LineageRecorder.find(job, "", in: context)?.set(["undoneBy": former])
      return
    }
    let changes = try changes(by: number)
    for change in changes { try change.object.set(["undoneBy": change.undoneBy]) }
    guard let root = changes.last, root.object.number("undoes") == 0 else { return }
    try markFile(root.object, stands: root.stands)
  }

  /// Lets the file be imported again where files are skipped that were imported before, or makes it known again.
  private func markFile(_ object: ManagedObject, stands: Bool) throws {
    let (digest, entity) = (object.text("digest"), object.text("entity"))
    if digest.isEmpty { return }
    let undone = Self.undonePrefix + entity
    let files = FetchRequest<ManagedObject>(
      entityName: ImportModel.importedEntity,
      predicate: .equal("digest", .string(digest)) && .equal("target", .string(stands ? undone : entity)))
    for file in try context.fetch(files) { try file.set(["target": stands ? entity : undone]) }
  }
}
