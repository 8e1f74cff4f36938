@_exported public import LadeTypes
package import ManagedObjects

/// What an import does with the records it reads.
package struct ImportOptions: Codable, Sendable, Hashable {
  /// What is committed together.
  package enum Atomicity: String, Codable, Sendable, CaseIterable {
    /// Each batch; what was committed stays when the import fails.
    case batch
    /// The whole file, in one transaction. Other writers of the store wait until its end, and the write-ahead log grows with
    /// the file: it needs as much free disk space as the rows take. An import that is stopped or killed starts again.
    case file
  }

  /// nil: `upsert` if the entity has a uniqueness constraint, `insert` otherwise.
  package var mode: ImportMode?
  /// Whether the submission gave the mode, and not its recipe or the entity.
  package var isModeGiven = false
  package var atomicity: Atomicity = .batch
  /// Whether everything is done and reported except the commit. Costs what ``Atomicity/file`` does.
  package var isDryRun = false
  /// Whether `replace` and `synchronise` may take a file without records, and delete everything.
  package var allowsEmpty = false
  /// Whether a file that was imported before into the same entity, with equivalent options, is skipped. To find out, all its
  /// bytes are read and hashed first. Later changes of its objects or of the model make no difference. The store remembers
  /// the last 100,000 files.
  package var skipsKnownFiles = false
  /// The files that are imported together, if the source is a folder of such files; nil if it is a file.
  package var set: FileSet?
  /// The database that is read instead of a file; nil if there is a file.
  package var from: IncrementalSource?
  /// Whether the file of a job that fails is kept as it is, although values of it are masked.
  package var keepsFailed = false
  /// Whether it is recorded which job and record each row comes from, so that the import can be undone; nil for what the
  /// entities' user info says.
  package var lineage: Bool?
  /// How to read the source.
  package var reader: ReaderOptions
  /// How records become objects, in addition to what the model says.
  package var mapping = MappingOptions()
  /// Records in a batch: how many are read, written and committed together.
  package var batchSize: Int
  /// The job fails with more rejected records than this; nil for no limit.
  package var rejectLimit: Int?
  /// The job fails if more than this share of the records is rejected, from 0 to 1: checked from the 1,000th record on and at
  /// the end; nil for no limit.
  package var rejectShare: Double?

  /// Options; the defaults suit most files.
  package init(
    mode: ImportMode? = nil, reader: ReaderOptions = ReaderOptions(), batchSize: Int = 10_000, rejectLimit: Int? = 1000
  ) {
    self.mode = mode
    self.reader = reader
    self.batchSize = batchSize
    self.rejectLimit = rejectLimit
  }
}

extension ImportOptions {
  /// Whether the import is one transaction.
  package var isWhole: Bool { atomicity == .file || isDryRun || mode == .replace || set != nil }

  /// Whether nothing else can write to the store for as long as the import runs.
  package var hasStoreAlone: Bool { isWhole || mapping.schema.evolves }

  /// The mode for an entity: as given, or `upsert` if something identifies its objects.
  package func effectiveMode(for entity: EntityDescription) -> ImportMode {
    mode ?? (entity.uniquenessConstraints.isEmpty && mapping.key.isEmpty ? .insert : .upsert)
  }

  /// Refuses options that can't work for any file of an entity.
  package func check(against entity: EntityDescription) throws(MappingError) {
    let mode = effectiveMode(for: entity)
    if mode.needsKey, entity.uniquenessConstraints.isEmpty, mapping.key.isEmpty {
      throw .noKey(entity: entity.name, constraints: [], columns: [], mode: mode)
    }
    try checkKey(for: entity)
    try mapping.check(against: entity)
  }

  /// Refuses a key where the mode doesn't look for objects.
  func checkKey(for entity: EntityDescription) throws(MappingError) {
    let mode = effectiveMode(for: entity)
    if !mode.findsObjects, !mapping.key.isEmpty {
      throw .badRules(
        entity: entity.name,
        problems: [
          "key has no effect in mode \(mode.rawValue), which looks for no object: leave it out, or use mode upsert"
        ])
    }
  }

  /// Whether objects that the source doesn't have are deleted at the end.
  var deletes: Bool { mode == .replace || mode == .synchronise }
}

extension ImportOptions {
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case mode, atomicity, isDryRun, allowsEmpty, skipsKnownFiles, set, lineage, reader, mapping, batchSize, rejectLimit
    case rejectShare, keepsFailed, from, isModeGiven
  }

  /// Reads the options of a job, which an older version may have submitted: missing keys have their defaults.
  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init()
    mode = try values.decodeIfPresent(ImportMode.self, forKey: .mode)
    isModeGiven = try values.decodeIfPresent(Bool.self, forKey: .isModeGiven) ?? isModeGiven
    atomicity = try values.decodeIfPresent(Atomicity.self, forKey: .atomicity) ?? atomicity
    isDryRun = try values.decodeIfPresent(Bool.self, forKey: .isDryRun) ?? isDryRun
    allowsEmpty = try values.decodeIfPresent(Bool.self, forKey: .allowsEmpty) ?? allowsEmpty
    skipsKnownFiles = try values.decodeIfPresent(Bool.self, forKey: .skipsKnownFiles) ?? skipsKnownFiles
    set = try values.decodeIfPresent(FileSet.self, forKey: .set)
    from = try values.decodeIfPresent(IncrementalSource.self, forKey: .from)
    keepsFailed = try values.decodeIfPresent(Bool.self, forKey: .keepsFailed) ?? keepsFailed
    lineage = try values.decodeIfPresent(Bool.self, forKey: .lineage)
    reader = try values.decodeIfPresent(ReaderOptions.self, forKey: .reader) ?? reader
    mapping = try values.decodeIfPresent(MappingOptions.self, forKey: .mapping) ?? mapping
    batchSize = try values.decodeIfPresent(Int.self, forKey: .batchSize) ?? batchSize
    // Null is no limit.
    if values.contains(.rejectLimit) { rejectLimit = try values.decodeIfPresent(Int.self, forKey: .rejectLimit) }
    rejectShare = try values.decodeIfPresent(Double.self, forKey: .rejectShare)
  }

  /// Writes all of them.
  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encodeIfPresent(mode, forKey: .mode)
    try values.encode(atomicity, forKey: .atomicity)
    try values.encode(isDryRun, forKey: .isDryRun)
    try values.encode(allowsEmpty, forKey: .allowsEmpty)
    try values.encode(skipsKnownFiles, forKey: .skipsKnownFiles)
    try values.encodeIfPresent(set, forKey: .set)
    try values.encodeIfPresent(from, forKey: .from)
    if isModeGiven { try values.encode(isModeGiven, forKey: .isModeGiven) }
    if keepsFailed { try values.encode(keepsFailed, forKey: .keepsFailed) }
    try values.encodeIfPresent(lineage, forKey: .lineage)
    try values.encode(reader, forKey: .reader)
    try values.encode(mapping, forKey: .mapping)
    try values.encode(batchSize, forKey: .batchSize)
    try values.encode(rejectLimit, forKey: .rejectLimit)
    try values.encodeIfPresent(rejectShare, forKey: .rejectShare)
  }
}
