public import Foundation
public import LadeTypes
public import ManagedObjects

/// Imports files into a store, for a program that links the library rather than running the daemon.
///
/// ```swift
/// let model = try FileImport.model(adding: ManagedObjectModel(contentsOf: modelURL))
/// let coordinator = PersistentStoreCoordinator(model: model)
/// try coordinator.addPersistentStore(.sqlite(at: storeURL))
/// let result = try FileImport(into: "Person", of: coordinator).run(csvURL)
/// ```
///
/// The columns map onto the entity as the model says: see `mappedKeyName`, `relatedByAttribute` and `dateFormat`.
public struct FileImport: Sendable {
  /// What an import did.
  public struct Result: Sendable, Hashable {
    /// Records read.
    public let records: Int64
    /// Objects inserted, changed, and found unchanged.
    public let inserted, updated, unchanged: Int64
    /// Objects deleted because the file doesn't have them.
    public let deleted: Int64
    /// Records left out by a filter.
    public let skipped: Int64
    /// Records that couldn't be imported; they are in the reject file.
    public let rejected: Int64
    /// Remarks for a person.
    public let notes: [String]
  }

  private let entity: String
  private let coordinator: PersistentStoreCoordinator
  /// nil: `upsert` if the entity has a uniqueness constraint, `insert` otherwise.
  public var mode: ImportMode?
  /// The reject file; nil: beside the source, with `.rejects` added to its name.
  public var rejects: URL?
  /// The import fails with more rejected records than this; nil for no limit.
  public var rejectLimit: Int? = 1000
  /// Whether the whole file is committed in one transaction. Other writers of the store wait until its end, and the
  /// write-ahead log grows with the file.
  public var isAtomic = false
  /// Whether everything is done except the commit. The result says what would have been.
  public var isDryRun = false
  /// Whether ``ImportMode/replace`` and ``ImportMode/synchronise`` may take a file without records, and delete everything.
  public var allowsEmpty = false
  /// Names the import: one that was killed continues when it is run again under the same name. nil: each run is an import
  /// of its own.
  public var name: String?

  /// An import into the objects of an entity. With `*`, each file of a zip or tar archive goes into the entity that it
  /// belongs to, and the rejects go into a folder of files with the same names. The coordinator's model must be one made by
  /// ``model(adding:)``.
  public init(into entity: String, of coordinator: PersistentStoreCoordinator) {
    self.entity = entity
    self.coordinator = coordinator
  }

  /// The model with the entities of an import's own bookkeeping.
  /// - Throws: `ModelError` when the model has entities of these names.
  public static func model(adding model: ManagedObjectModel) throws -> ManagedObjectModel {
    try ImportModel.adding(to: model)
  }

  /// Imports a file: CSV, TSV, JSON, NDJSON, XML, a property list or SQLite, recognised by its ending or its content. All but
  /// SQLite may be compressed, or the only file of a zip or tar archive. Blocks the thread. Saves are announced by did-save
  /// notifications, as those of any context.
  ///
  /// - Throws: an error that says what can't be read, mapped or written, where, and what to do. What was committed stays.
  public func run(_ source: URL) throws -> Result {
    var options = ImportOptions(mode: mode, rejectLimit: rejectLimit)
    options.atomicity = isAtomic ? .file : .batch
    options.isDryRun = isDryRun
    options.allowsEmpty = allowsEmpty
    let request = ImportRequest(
      job: "file/" + (name ?? UUID().uuidString), source: source, name: source.lastPathComponent, entity: entity,
      options: options, rejects: rejects ?? source.appendingPathExtension("rejects"))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "import")
    let end = try Importer(coordinator: coordinator, request: request).run(
      in: context, shouldStop: { false }, report: { _ in })
    if case .finished = end { try ImportCheckpoint.remove(request.job, in: context) }
    return Result(end.progress.counts, end.notes)
  }
}

extension FileImport.Result {
  init(_ counts: ImportCounts, _ notes: [String]) {
    records = counts.records
    inserted = counts.inserted
    updated = counts.updated
    unchanged = counts.unchanged
    deleted = counts.deleted
    skipped = counts.skipped
    rejected = counts.rejected
    self.notes = notes
  }
}
