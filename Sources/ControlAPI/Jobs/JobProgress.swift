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
  /// Records that a filter passed over.
  package var skipped: Int64
  /// What a running operation is at, in words: `verifying`.
  package var phase: String?

  /// Counts in the order of the wire; all begin at nothing.
  package init(
    bytesDone: Int64 = 0, bytesTotal: Int64 = 0, records: Int64 = 0, inserted: Int64 = 0, updated: Int64 = 0,
    unchanged: Int64 = 0, deleted: Int64 = 0, rejected: Int64 = 0, skipped: Int64 = 0, phase: String? = nil
  ) {
    self.bytesDone = bytesDone
    self.bytesTotal = bytesTotal
    self.records = records
    self.inserted = inserted
    self.updated = updated
    self.unchanged = unchanged
    self.deleted = deleted
    self.rejected = rejected
    self.skipped = skipped
    self.phase = phase
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case bytesDone = "bytes_done"
    case bytesTotal = "bytes_total"
    case records, inserted, updated, unchanged, deleted, rejected, skipped, phase
  }
}

extension JobProgress {
  /// Reads progress, also that which a daemon of an earlier version tells: it has no `skipped`.
  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      bytesDone: try values.decode(Int64.self, forKey: .bytesDone),
      bytesTotal: try values.decode(Int64.self, forKey: .bytesTotal),
      records: try values.decode(Int64.self, forKey: .records),
      inserted: try values.decode(Int64.self, forKey: .inserted),
      updated: try values.decode(Int64.self, forKey: .updated),
      unchanged: try values.decode(Int64.self, forKey: .unchanged),
      deleted: try values.decode(Int64.self, forKey: .deleted),
      rejected: try values.decode(Int64.self, forKey: .rejected),
      skipped: try values.decodeIfPresent(Int64.self, forKey: .skipped) ?? 0,
      phase: try values.decodeIfPresent(String.self, forKey: .phase))
  }
}
