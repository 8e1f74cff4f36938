public import Foundation
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
  /// What happens to a record whose key the store has already, and to objects that the file doesn't have.
  public enum Mode: Sendable {
    /// Every record is a new object; one that the store has already is rejected.
    case insert
    /// A record updates the object with the same values in the entity's uniqueness constraint, or is a new one.
    case upsert
    /// A record updates the object with the same key; one whose object the store hasn't got is rejected.
    case update
    /// All objects of the entity are taken away and the records are the new ones, in one swap. A record whose key an
    /// object had takes its place, so that references of others to it stay.
    case replace
    /// As ``upsert``; at the end, objects that no record was about are deleted, with the model's delete rules. Those that
    /// others need stay, and the notes tell of them.
    case synchronise
  }

  /// What an import did.
  public struct Result: Sendable, Hashable {
    /// Records read.
    public let records: Int64
    /// Objects inserted, changed, and found to be as they should.
    public let inserted, updated, unchanged: Int64
    /// Objects deleted because the file hasn't got them.
    public let deleted: Int64
    /// Records passed over, as a filter says.
    public let skipped: Int64
    /// Records that couldn't be taken in; they stand in the reject file.
    public let rejected: Int64
    /// What else there is to say, for a person.
    public let notes: [String]
  }

  private let entity: String
  private let coordinator: PersistentStoreCoordinator
  /// nil: `upsert` when the entity has a uniqueness constraint, `insert` otherwise.
  public var mode: Mode?
  /// Where rejected records go; nil: beside the source, with `.rejects` added to its name.
  public var rejects: URL?
  /// The import fails with more rejected records than this; nil for no limit.
  public var rejectLimit: Int? = 1000
  /// Whether all of a file is committed together: all of it or nothing, and readers see either. Others who write to the
  /// store wait meanwhile, and its write-ahead log grows with the file.
  public var isAtomic = false
  /// Whether everything is done but the commit: the result says what would have been.
  public var isDryRun = false
  /// Whether ``Mode/replace`` and ``Mode/synchronise`` may take a file without records, and delete everything.
  public var allowsEmpty = false
  /// Names the import, so that one that was killed goes on when it is run again under the same name; nil: each run is an
  /// import of its own.
  public var name: String?

  /// An import into the objects of an entity; or, by `*`, of each file of a zip or tar into those of the entity that it
  /// belongs to, whose rejects go into a folder of files called as theirs. The coordinator's model was made by ``model(adding:)``.
  public init(into entity: String, of coordinator: PersistentStoreCoordinator) {
    self.entity = entity
    self.coordinator = coordinator
  }

  /// The model with what imports keep beside the data: how far they have come.
  /// - Throws: `ModelError` when the model has entities of these names.
  public static func model(adding model: ManagedObjectModel) throws -> ManagedObjectModel {
    try ImportModel.adding(to: model)
  }

  /// Imports a file: CSV, TSV, JSON, NDJSON, XML, a property list or SQLite, by its name's ending or its content, and but for
  /// SQLite also compressed or the only file of a zip or tar. Blocks the thread; what it saves is announced by did-save
  /// notifications as any context's saves are.
  ///
  /// - Throws: what can't be read, mapped or written, with the place and what to do. What was committed stays.
  public func run(_ source: URL) throws -> Result {
    let mode: ImportOptions.Mode? =
      switch self.mode {
      case .insert: .insert
      case .upsert: .upsert
      case .update: .update
      case .replace: .replace
      case .synchronise: .synchronise
      case nil: nil
      }
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
    switch end {
    case .finished(let progress, let notes):
      try ImportCheckpoint.remove(request.job, in: context)
      return Result(progress.counts, notes)
    case .stopped(let progress): return Result(progress.counts, [])
    }
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
