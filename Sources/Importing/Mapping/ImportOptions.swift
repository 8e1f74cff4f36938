/// What an import does with the records it reads.
package struct ImportOptions: Codable, Sendable, Hashable {
  /// What happens to a record whose key the store has already, and to objects that the file doesn't have.
  package enum Mode: String, Codable, Sendable, CaseIterable {
    /// Every record is a new object; one that the store has already is rejected.
    case insert
    /// A record updates the object that has the same values in the entity's uniqueness constraint, or is a new one.
    case upsert
    /// A record updates the object with the same key; one whose object the store hasn't got is rejected.
    case update
    /// All objects of the entity are taken away and the records are the new ones, in one swap, whatever the atomicity.
    ///
    /// A record whose key an object had takes that object's place: references of others to it, and its to-many
    /// relationships that the source doesn't give, lead to the new one; what else the source doesn't say is as in a new
    /// object. One that doesn't differ isn't written. So the counts are of what changes: all that were there and all records
    /// when the entity has no key. What no accepted record is about is deleted, with the delete rules; where these, or
    /// a reference that mustn't be empty, forbid it, the job fails and nothing is changed. Of records with one key, all
    /// but one are rejected. Objects of entities that inherit from the entity stay, and those that have another constant
    /// part of the key, as in ``synchronise``.
    case replace
    /// As ``upsert``; at the end, objects that no record was about are deleted.
    ///
    /// These are objects of exactly the entity, not of those that inherit from it. A record that is rejected is about its
    /// object all the same, if its key can be read; if the key of one can't, nothing is deleted, and a note says so.
    /// Records that the filter passes over are about none. Where the recipe gives a part of the key as a constant, only
    /// objects that have it are looked at. An object that another one needs stays, and a note tells it.
    case synchronise

    /// Whether records find the objects that the store has, by their keys.
    var findsObjects: Bool {
      switch self {
      case .upsert, .update, .replace, .synchronise: return true
      case .insert: return false
      }
    }

    /// Whether a record without a key is of no use.
    package var needsKey: Bool { findsObjects && self != .replace }

    /// Whether objects that no record is about are deleted.
    package var deletesOthers: Bool { self == .replace || self == .synchronise }
  }

  /// What is committed together.
  package enum Atomicity: String, Codable, Sendable, CaseIterable {
    /// Each batch; what was committed stays when the import fails.
    case batch
    /// The whole file: all of it or nothing, and readers see either. Others who write to the store wait meanwhile, and its
    /// write-ahead log grows with the file: as much free disk as the rows take is needed for it. An import that is stopped or
    /// killed begins anew.
    case file
  }

  /// nil: `upsert` when the entity has a uniqueness constraint, `insert` otherwise.
  package var mode: Mode?
  package var atomicity: Atomicity = .batch
  /// Everything is done but the commit, and said as if it had been. Costs what ``Atomicity/file`` does.
  package var isDryRun = false
  /// Whether `replace` and `synchronise` may take a file without records, and delete everything.
  package var allowsEmpty = false
  /// Whether a file that was imported before into the same entity, with options that say the same, is left alone: all its
  /// bytes are read and hashed first to know that. What has become of its objects since, and what a changed model would make
  /// of it, doesn't matter. The store remembers the last 100,000 files.
  package var skipsKnownFiles = false
  /// How to read the source.
  package var reader: ReaderOptions
  /// How records become objects, beyond what the model says.
  package var mapping = MappingOptions()
  /// Records a batch: how many are read, written and committed together.
  package var batchSize: Int
  /// The job fails with more rejected records than this; nil for no limit.
  package var rejectLimit: Int?
  /// The job fails when more than this share of the records is rejected, from 0 to 1: looked at from the 1,000th record on, and
  /// at the end; nil for no limit.
  package var rejectShare: Double?

  /// Options; the defaults suit most files.
  package init(
    mode: Mode? = nil, reader: ReaderOptions = ReaderOptions(), batchSize: Int = 10_000, rejectLimit: Int? = 1000
  ) {
    self.mode = mode
    self.reader = reader
    self.batchSize = batchSize
    self.rejectLimit = rejectLimit
  }
}

extension ImportOptions {
  /// Whether the import is one transaction.
  package var isWhole: Bool { atomicity == .file || isDryRun || mode == .replace }

  /// Whether objects are deleted at the end that the source doesn't have.
  var deletes: Bool { mode == .replace || mode == .synchronise }
}

extension ImportOptions {
  private enum CodingKeys: String, CodingKey {
    case mode, atomicity, isDryRun, allowsEmpty, skipsKnownFiles, reader, mapping, batchSize, rejectLimit, rejectShare
  }

  /// Reads options of a job that an older version may have submitted: what isn't there has its default.
  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init()
    mode = try values.decodeIfPresent(Mode.self, forKey: .mode)
    atomicity = try values.decodeIfPresent(Atomicity.self, forKey: .atomicity) ?? atomicity
    isDryRun = try values.decodeIfPresent(Bool.self, forKey: .isDryRun) ?? isDryRun
    allowsEmpty = try values.decodeIfPresent(Bool.self, forKey: .allowsEmpty) ?? allowsEmpty
    skipsKnownFiles = try values.decodeIfPresent(Bool.self, forKey: .skipsKnownFiles) ?? skipsKnownFiles
    reader = try values.decodeIfPresent(ReaderOptions.self, forKey: .reader) ?? reader
    mapping = try values.decodeIfPresent(MappingOptions.self, forKey: .mapping) ?? mapping
    batchSize = try values.decodeIfPresent(Int.self, forKey: .batchSize) ?? batchSize
    rejectLimit = try values.decodeIfPresent(Int.self, forKey: .rejectLimit)
    rejectShare = try values.decodeIfPresent(Double.self, forKey: .rejectShare)
  }
}
