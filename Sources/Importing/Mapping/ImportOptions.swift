/// What an import does with the records it reads.
package struct ImportOptions: Codable, Sendable, Hashable {
  /// What happens to a record whose key the store has already, and to objects that the file doesn't have.
  package enum Mode: String, Codable, Sendable, CaseIterable {
    /// Every record is a new object; one that the store has already is rejected.
    case insert
    /// A record updates the object with the same values in the entity's uniqueness constraint, or is a new one.
    case upsert
    /// A record updates the object with the same key; a record is rejected if there is none.
    case update
    /// The records replace all objects of the entity, in one transaction, whatever the atomicity.
    ///
    /// A record whose key an object has takes that object's place: references to it stay, and its to-many relationships that
    /// the source doesn't give; everything else that the source doesn't give becomes as in a new object. A record that makes
    /// no difference isn't written. So the counts say what changed; without a key, that is all former objects and all
    /// records. Objects that no accepted record is about are deleted, by the delete rules. If these or a required reference
    /// forbid it, the job fails and nothing is changed. Of several records with one key, all but one are rejected. Objects
    /// of entities that inherit from the entity stay, and so do those with another constant part of the key, as in
    /// ``synchronise``.
    case replace
    /// Like ``upsert``. At the end, objects that no record was about are deleted.
    ///
    /// These are objects of exactly the entity, not of those that inherit from it. A rejected record still protects its
    /// object if its key can be read; if the key of any can't, nothing is deleted, and a note says so. Records that the
    /// filter leaves out protect none. If the recipe gives a part of the key as a constant, only objects with this constant
    /// are deleted. An object that another one needs stays, and a note names it.
    case synchronise

    /// Whether records find the objects that the store has, by their keys.
    var findsObjects: Bool {
      switch self {
      case .upsert, .update, .replace, .synchronise: return true
      case .insert: return false
      }
    }

    /// Whether a record without a key is rejected.
    package var needsKey: Bool { findsObjects && self != .replace }

    /// Whether objects that no record is about are deleted.
    package var deletesOthers: Bool { self == .replace || self == .synchronise }
  }

  /// What is committed together.
  package enum Atomicity: String, Codable, Sendable, CaseIterable {
    /// Each batch; what was committed stays when the import fails.
    case batch
    /// The whole file, in one transaction. Other writers of the store wait until its end, and the write-ahead log grows with
    /// the file: it needs as much free disk space as the rows take. An import that is stopped or killed starts again.
    case file
  }

  /// nil: `upsert` if the entity has a uniqueness constraint, `insert` otherwise.
  package var mode: Mode?
  package var atomicity: Atomicity = .batch
  /// Whether everything is done and reported except the commit. Costs what ``Atomicity/file`` does.
  package var isDryRun = false
  /// Whether `replace` and `synchronise` may take a file without records, and delete everything.
  package var allowsEmpty = false
  /// Whether a file that was imported before into the same entity, with equivalent options, is skipped. To find out, all its
  /// bytes are read and hashed first. Later changes of its objects or of the model make no difference. The store remembers
  /// the last 100,000 files.
  package var skipsKnownFiles = false
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

  /// Whether objects that the source doesn't have are deleted at the end.
  var deletes: Bool { mode == .replace || mode == .synchronise }
}

extension ImportOptions {
  private enum CodingKeys: String, CodingKey {
    case mode, atomicity, isDryRun, allowsEmpty, skipsKnownFiles, reader, mapping, batchSize, rejectLimit, rejectShare
  }

  /// Reads the options of a job, which an older version may have submitted: missing keys have their defaults.
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
