/// How far a job has come, and what it has done. A record is one row or object of the input.
///
/// A job that reads or writes a file counts bytes; one that goes through the objects of a store counts these, as records.
public struct JobProgress: Codable, Sendable, Hashable {
  /// Bytes of the input that are read and saved; 0 for a job that counts records only.
  public var bytesDone: Int64
  /// Bytes of the input altogether; 0 if that isn't known.
  public var bytesTotal: Int64
  /// Records read, whatever became of them.
  public var records: Int64
  /// Records altogether; 0 if that isn't known.
  public var recordsTotal: Int64
  /// Objects inserted.
  public var inserted: Int64
  /// Objects changed.
  public var updated: Int64
  /// Records whose object already had the same values.
  public var unchanged: Int64
  /// Objects deleted.
  public var deleted: Int64
  /// Records in the reject file.
  public var rejected: Int64
  /// Records that a filter skipped.
  public var skipped: Int64
  /// The name of the reject file in the daemon's reject folder, once there is one. Not on the wire, which has its path.
  public var rejectsFile: String?
  /// What a running operation is doing, such as `verifying`.
  public var phase: String?

  /// Progress; all counts are 0 by default.
  public init(
    bytesDone: Int64 = 0, bytesTotal: Int64 = 0, records: Int64 = 0, inserted: Int64 = 0, updated: Int64 = 0,
    unchanged: Int64 = 0, deleted: Int64 = 0, rejected: Int64 = 0, skipped: Int64 = 0,
    rejectsFile: String? = nil, phase: String? = nil, recordsTotal: Int64 = 0
  ) {
    self.bytesDone = bytesDone
    self.bytesTotal = bytesTotal
    self.records = records
    self.recordsTotal = recordsTotal
    self.inserted = inserted
    self.updated = updated
    self.unchanged = unchanged
    self.deleted = deleted
    self.rejected = rejected
    self.skipped = skipped
    self.rejectsFile = rejectsFile
    self.phase = phase
  }

  /// What is done, from 0 to 1: of the bytes, or else of the records; nil while their number isn't known.
  public var fraction: Double? { share(of: 1) }

  /// The same in whole per cent.
  public var percent: Int? { share(of: 100).map { Int($0) } }

  private func share(of whole: Double) -> Double? {
    let (done, total) = bytesTotal > 0 ? (bytesDone, bytesTotal) : (records, recordsTotal)
    return total > 0 ? min(max(whole * Double(done) / Double(total), 0), whole) : nil
  }

  /// Reads progress; `skipped` and `records_total` may be missing.
  public init(from decoder: any Decoder) throws {
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
      phase: try values.decodeIfPresent(String.self, forKey: .phase),
      recordsTotal: try values.decodeIfPresent(Int64.self, forKey: .recordsTotal) ?? 0)
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case bytesDone = "bytes_done"
    case bytesTotal = "bytes_total"
    case recordsTotal = "records_total"
    case records, inserted, updated, unchanged, deleted, rejected, skipped, phase
  }
}
