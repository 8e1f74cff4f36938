/// How far a job has come. A record is one row or object of the input.
package struct JobProgress: Codable, Sendable, Hashable {
  /// Bytes of the input that are read and saved.
  package var bytesDone: Int64
  /// Bytes of the input altogether; 0 while that isn't known.
  package var bytesTotal: Int64
  /// Records read, whatever became of them.
  package var records: Int64
  package var inserted: Int64
  package var updated: Int64
  /// Records whose object was there with the same values.
  package var unchanged: Int64
  package var deleted: Int64
  /// Records that are in the reject file.
  package var rejected: Int64

  /// Counts in the order of the wire; all begin at nothing.
  package init(
    bytesDone: Int64 = 0, bytesTotal: Int64 = 0, records: Int64 = 0, inserted: Int64 = 0, updated: Int64 = 0,
    unchanged: Int64 = 0, deleted: Int64 = 0, rejected: Int64 = 0
  ) {
    self.bytesDone = bytesDone
    self.bytesTotal = bytesTotal
    self.records = records
    self.inserted = inserted
    self.updated = updated
    self.unchanged = unchanged
    self.deleted = deleted
    self.rejected = rejected
  }

  private enum CodingKeys: String, CodingKey {
    case bytesDone = "bytes_done"
    case bytesTotal = "bytes_total"
    case records, inserted, updated, unchanged, deleted, rejected
  }
}
