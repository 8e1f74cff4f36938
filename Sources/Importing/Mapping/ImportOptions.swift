/// What an import does with the records it reads.
package struct ImportOptions: Codable, Sendable, Hashable {
  /// What happens to a record whose key the store has already.
  package enum Mode: String, Codable, Sendable, CaseIterable {
    /// Every record is a new object; one that the store has already is rejected.
    case insert
    /// A record updates the object that has the same values in the entity's uniqueness constraint, or is a new one.
    case upsert
  }

  /// nil: `upsert` when the entity has a uniqueness constraint, `insert` otherwise.
  package var mode: Mode?
  /// How to read the source.
  package var reader: ReaderOptions
  /// Records a batch: how many are read, written and committed together.
  package var batchSize: Int
  /// The job fails with more rejected records than this; nil for no limit.
  package var rejectLimit: Int?

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
