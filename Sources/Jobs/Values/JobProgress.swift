/// How far a job has come, and what it has done.
public struct JobProgress: Sendable, Hashable, Codable {
  /// Bytes of the input that were worked off.
  public var bytesDone: Int64
  /// Bytes of the input in all; 0 when that isn't known.
  public var bytesTotal: Int64
  /// Records read so far.
  public var records: Int64
  /// Objects inserted.
  public var inserted: Int64
  /// Objects changed.
  public var updated: Int64
  /// Objects found to be as they should.
  public var unchanged: Int64
  /// Objects deleted.
  public var deleted: Int64
  /// Records that couldn't be taken in and stand in the reject file.
  public var rejected: Int64
  /// Records passed over, as a filter says.
  public var skipped: Int64
  /// The name of the reject file in the daemon's directory of rejects, once there is one.
  public var rejectsFile: String?
  /// What the operation does just now, for people: `verifying`. Known while it runs only.
  public var phase: String?

  /// Progress; what isn't given is 0.
  public init(
    bytesDone: Int64 = 0, bytesTotal: Int64 = 0, records: Int64 = 0, inserted: Int64 = 0, updated: Int64 = 0,
    unchanged: Int64 = 0, deleted: Int64 = 0, rejected: Int64 = 0, skipped: Int64 = 0,
    rejectsFile: String? = nil, phase: String? = nil
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
    self.rejectsFile = rejectsFile
    self.phase = phase
  }
}
