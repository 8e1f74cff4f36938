// Imported files are remembered in the data store, one object of `lade_imported` for each, saved together with the checkpoint
// of the finished import: a kill before that save leaves the file unknown, a kill after it leaves it known. The last hundred
// thousand are kept, each a short row, so that they don't grow forever.

package import Foundation
import ManagedObjects

/// A file, identified by the hash of its bytes, and what it is imported into.
struct KnownFile {
  let digest: String
  /// The entity, or ``ImportRequest/feed``.
  private let target: String
  /// A hash of the options that decide how the file is read and what its records become.
  private let options: String
  /// The file's name as it was submitted. The same file may be submitted under another name.
  private let name: String

  /// How many files a store remembers.
  static let remembered: Int64 = 100_000

  /// The import was stopped before the file had been read.
  struct Stopped: Error {}

  /// Reads the whole file.
  /// - Throws: ``Stopped`` when `shouldStop` returned true.
  init(
    _ source: any IdentifiedSource, into target: String, _ request: ImportRequest, shouldStop: () -> Bool = { false }
  ) throws {
    guard let digest = try source.digest(shouldStop: shouldStop) else { throw Stopped() }
    self.digest = digest
    self.target = target
    name = request.name
    options = try Self.fingerprint(request.options)
  }

  /// A note about an earlier import of the same file with the same target and options; nil if there was none.
  func earlierImport(in context: ManagedObjectContext) throws -> String? {
    defer { context.reset() }
    guard let found = try find(in: context) else { return nil }
    var date = ""
    if case .date(let time)? = found.value(forKey: "time") { date = " on \(time.ISO8601Format())" }
    let name = found.value(forKey: "name")?.plainText ?? ""
    return "the same file was imported\(date) as \(SourceError.shown(name)): nothing was done"
  }

  /// Remembers, with the context's next save, that the file is imported, and forgets the oldest files.
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

  /// Row numbers are assigned in the order of imports, so nothing has to be counted.
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

  /// A hash of the options, without those that make no difference to the objects.
  private static func fingerprint(_ options: ImportOptions) throws -> String {
    let usual = ImportOptions()
    var options = options
    (options.atomicity, options.isDryRun, options.batchSize) = (usual.atomicity, usual.isDryRun, usual.batchSize)
    (options.rejectLimit, options.rejectShare, options.allowsEmpty) = (nil, nil, usual.allowsEmpty)
    options.lineage = nil
    options.isModeGiven = false
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return SHA256.digest(try encoder.encode(options)).hexadecimal
  }
}

extension Data {
  /// Two hexadecimal digits for each byte.
  package var hexadecimal: String {
    map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }
}
