public import Foundation
public import LadeTypes
public import ManagedObjects

/// Imports files into a store, for a program that links the library rather than running the daemon.
///
/// ```swift
/// let model = try ImportModel.adding(to: ManagedObjectModel(contentsOf: modelURL))
/// let coordinator = PersistentStoreCoordinator(model: model)
/// try coordinator.addPersistentStore(.sqlite(at: storeURL))
/// var people = FileImport(into: "Person", of: coordinator)
/// people.options.reading = ["delimiter": ";", "encoding": "windows-1252"]
/// people.options.properties["name"] = PropertyRule(column: "Full name")
/// people.options.filter = "age >= 18"
/// let result = try people.run(csvURL, report: { print($0.records) })
/// ```
///
/// The columns map onto the entity as the model says: see `mappedKeyName`, `relatedByAttribute` and `dateFormat`; what
/// ``Options/properties`` says goes before that.
public struct FileImport: Sendable {
  /// What an import did.
  public struct Result: Sendable, Hashable {
    /// Whether it came to the end of the file. If not, it was stopped: what was committed stays, and an import under the same
    /// ``FileImport/name`` continues there.
    public let isFinished: Bool
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
  /// How the file is read, and what becomes of its records.
  public var options = Options()
  /// The reject file; nil: beside the source, with `.rejects` added to its name.
  public var rejects: URL?
  /// Names the import: one that was killed or stopped continues when it is run again under the same name. nil: each run is an
  /// import of its own.
  public var name: String?

  /// An import into the objects of an entity. With `*`, each file of a zip or tar archive, and each sheet of a workbook, goes
  /// into the entity that it belongs to, and the rejects go into a folder of files with the same names. The coordinator's
  /// model must be one made by ``ImportModel/adding(to:)``.
  public init(into entity: String, of coordinator: PersistentStoreCoordinator) {
    self.entity = entity
    self.coordinator = coordinator
  }

  /// Imports a file: CSV, TSV, JSON, NDJSON, XML, a property list, SQLite, a workbook of Excel or OpenDocument, Parquet or a
  /// Core Data store, recognised by its ending or its content. All but databases, workbooks and Parquet files may be compressed, or the only
  /// file of a zip or tar archive.
  /// Blocks the thread. Saves are announced by did-save notifications, as those of any context.
  ///
  /// - Parameters:
  ///   - shouldStop: asked before each batch. Once it returns true, the import ends: see ``Result/isFinished``.
  ///   - report: called at the beginning and after each batch, with what has been done so far.
  /// - Throws: an error that says what can't be read, mapped or written, where, and what to do. What was committed stays.
  public func run(
    _ source: URL, shouldStop: () -> Bool = { false }, report: (JobProgress) -> Void = { _ in }
  ) throws -> Result {
    let request = ImportRequest(
      job: "file/" + (name ?? UUID().uuidString), source: source, name: source.lastPathComponent, entity: entity,
      options: try options.resolved(), rejects: rejects ?? source.appendingPathExtension("rejects"))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "import")
    let end = try Importer(coordinator: coordinator, request: request).run(
      in: context, shouldStop: shouldStop, report: { report(JobProgress($0)) })
    // A stopped import without a name can't be continued.
    if end.isFinished || name == nil { try ImportCheckpoint.remove(request.job, in: context) }
    return Result(end)
  }
}

extension FileImport {
  /// How an import reads its file, and what becomes of the records: the options of a recipe. They encode to what the jobs of
  /// the kind `import` have.
  public struct Options: Sendable, Hashable, Encodable {
    /// What becomes of records whose key is in the store already; nil: `upsert` if the entity has a uniqueness constraint,
    /// `insert` otherwise.
    public var mode: ImportMode?
    /// How the file is read, by the names that recipes have for that: `format`, `delimiter`, `header`, `columns`, `encoding`,
    /// `root`, `member`, … Each value is written as on a command line: `true`, `12`, or a list with commas. What isn't said is
    /// found out. `docs/recipes.md` has all of them.
    public var reading: [String: String] = [:]
    /// The attributes that together identify an object; none: as the model's uniqueness constraints say.
    public var key: [String] = []
    /// Rules by the names of attributes and relationships: which column becomes the property, and in which notation it is.
    public var properties: [String: PropertyRule] = [:]
    /// Texts that mean null in every column, such as `NA`. An empty field is always null.
    public var nulls: [String] = []
    /// Whether spaces around texts are removed in every column. Around numbers and dates they always are.
    public var trims = false
    /// A predicate, in the format language, over the entity's attributes. Records for which it isn't true are left out and
    /// counted as skipped.
    public var filter: String?
    /// The import fails with more rejected records than this; nil for no limit.
    public var rejectLimit: Int? = 1000
    /// How many records are read, written and committed together. Memory grows with it.
    public var batchSize = 10_000
    /// Whether the whole file is committed in one transaction. Other writers of the store wait until its end, and the
    /// write-ahead log grows with the file.
    public var isAtomic = false
    /// Whether everything is done except the commit. The result says what would have been.
    public var isDryRun = false
    /// Whether ``ImportMode/replace`` and ``ImportMode/synchronise`` may take a file without records, and delete everything.
    public var allowsEmpty = false
    /// Whether the store keeps which record of which file each row comes from; nil for what the entity's user info says. See
    /// `docs/lineage.md`.
    public var lineage: Bool?

    /// The options that suit most files.
    public init() {}

    /// Writes them as an import's job has them.
    /// - Throws: an error that says which option of ``reading`` is wrong.
    public func encode(to encoder: any Encoder) throws { try resolved().encode(to: encoder) }

    /// - Throws: ``ReaderError/invalidOption(name:reason:)``.
    func resolved() throws -> ImportOptions {
      var options = ImportOptions(
        mode: mode, reader: try ReaderOptions(named: reading.mapValues { [$0] }), batchSize: max(1, batchSize),
        rejectLimit: rejectLimit)
      options.atomicity = isAtomic ? .file : .batch
      options.isDryRun = isDryRun
      options.allowsEmpty = allowsEmpty
      options.lineage = lineage
      options.mapping.key = key
      options.mapping.properties = properties
      options.mapping.nulls = nulls
      options.mapping.trims = trims
      options.mapping.filter = filter
      return options
    }
  }
}

extension FileImport.Result {
  init(_ end: ImportEnd) {
    let counts = end.progress.counts
    isFinished = end.isFinished
    records = counts.records
    inserted = counts.inserted
    updated = counts.updated
    unchanged = counts.unchanged
    deleted = counts.deleted
    skipped = counts.skipped
    rejected = counts.rejected
    notes = end.notes
  }
}

extension JobProgress {
  /// The progress of an import.
  /// - Parameter rejects: the name of its reject file, which is there once a record was rejected.
  package init(_ progress: ImportProgress, rejects: String? = nil) {
    let counts = progress.counts
    self.init(
      bytesDone: progress.bytesDone, bytesTotal: progress.bytesTotal, records: counts.records,
      inserted: counts.inserted, updated: counts.updated, unchanged: counts.unchanged, deleted: counts.deleted,
      rejected: counts.rejected, skipped: counts.skipped, rejectsFile: counts.rejected > 0 ? rejects : nil)
  }
}
