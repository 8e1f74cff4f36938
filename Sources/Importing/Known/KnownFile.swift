// Which files have been imported is kept in the data store, one object of `lade_imported` a file, saved by the save that
// notes the import as finished: an import that was killed before is none, and one that was killed after is known. The last
// hundred thousand are kept: each is a short row, and they don't grow for ever.

import Foundation
import ManagedObjects

/// A file by all of its bytes, with what was or is to be made of it.
struct KnownFile {
  private let digest: String
  /// The entity, or ``ImportRequest/feed``.
  private let target: String
  /// A hash of what the recipe says of how the file is read and what becomes of its records.
  private let options: String
  /// The file's name as it was submitted. The same file may come under another.
  private let name: String

  /// How many files a store remembers.
  static let remembered: Int64 = 100_000

  /// It was to be stopped before the file was read.
  struct Stopped: Error {}

  /// Reads the whole file.
  /// - Throws: ``Stopped``, when `shouldStop` said so.
  init(
    _ source: ImportSource, into target: String, _ request: ImportRequest, shouldStop: () -> Bool = { false }
  ) throws {
    guard let digest = try source.digest(shouldStop: shouldStop) else { throw Stopped() }
    self.digest = digest
    self.target = target
    name = request.name
    options = try Self.fingerprint(request.options)
  }

  /// What is to be said of the import of the same file that came before, with the same target and options; nil when there
  /// was none.
  func earlier(in context: ManagedObjectContext) throws -> String? {
    defer { context.reset() }
    guard let found = try find(in: context) else { return nil }
    var date = ""
    if case .date(let time)? = found.value(forKey: "time") { date = " on \(time.ISO8601Format())" }
    let name = found.value(forKey: "name")?.plainText ?? ""
    return "the same file was imported\(date) as \(SourceError.shown(name)): nothing was done"
  }

  /// Notes, for the context's next save, that the file is imported, and forgets those that came too long before it.
  func keep(in context: ManagedObjectContext, remembered: Int64 = KnownFile.remembered) throws {
    let known = try find(in: context)
    let object = try known ?? context.insert(ImportModel.importedEntity)
    if known == nil { try forgetOldest(before: object, remembered, in: context) }
    try object.setValue(.string(digest), forKey: "digest")
    try object.setValue(.string(target), forKey: "target")
    try object.setValue(.string(options), forKey: "options")
    try object.setValue(.string(name), forKey: "name")
    try object.setValue(.date(Date()), forKey: "time")
  }

  /// Numbers are given in the order in which files are noted, so that nobody has to count.
  private func forgetOldest(before new: ManagedObject, _ remembered: Int64, in context: ManagedObjectContext) throws {
    try context.obtainPermanentIDs(for: [new])
    let last = try context.persistentStoreCoordinator.managedObjectID(
      entity: ImportModel.importedEntity, number: new.objectID.number - remembered)
    let old = FetchRequest<ManagedObject>(
      entityName: ImportModel.importedEntity,
      predicate: .comparison(.path("SELF"), .lessOrEqual, .constant(.object(last))),
      fetchLimit: 1_000, includesPendingChanges: false)
    for object in try context.fetch(old) { context.delete(object) }
  }

  private func find(in context: ManagedObjectContext) throws -> ManagedObject? {
    let same: FetchPredicate =
      .equal("digest", .string(digest)) && .equal("target", .string(target)) && .equal("options", .string(options))
    return try context.fetch(
      FetchRequest<ManagedObject>(entityName: ImportModel.importedEntity, predicate: same, fetchLimit: 1)
    ).first
  }

  /// Without what changes nothing of the objects.
  private static func fingerprint(_ options: ImportOptions) throws -> String {
    let usual = ImportOptions()
    var options = options
    (options.atomicity, options.isDryRun, options.batchSize) = (usual.atomicity, usual.isDryRun, usual.batchSize)
    (options.rejectLimit, options.rejectShare, options.allowsEmpty) = (nil, nil, usual.allowsEmpty)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return SHA256.digest(try encoder.encode(options)).hexadecimal
  }
}

extension Importer {
  /// The file, when it is to be recognised; nil when the options don't say so, which costs nothing.
  ///
  /// - Throws: ``KnownFile/Stopped``, when `shouldStop` said so: it takes a while.
  func knownFile(_ source: ImportSource, into target: String, _ shouldStop: () -> Bool) throws -> KnownFile? {
    guard request.options.skipsKnownFiles, part == nil else { return nil }
    return try KnownFile(source, into: target, request, shouldStop: shouldStop)
  }

  /// The end of an import of a file that is there already.
  func ended(_ note: String) -> ImportEnd {
    let total = ImportSource.length(of: request.source) ?? 0
    return .finished(ImportProgress(counts: ImportCounts(), bytesDone: total, bytesTotal: total), notes: [note])
  }
}

extension Data {
  /// Two digits of base 16 a byte.
  var hexadecimal: String {
    map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }
}
