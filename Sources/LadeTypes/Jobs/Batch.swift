package import FoundationEssentials

/// A group of jobs: what `GET /v1/batches/{id}` answers.
package struct Batch: Codable, Sendable, Hashable, Identifiable {
  package var id: Int64
  package var name: String?
  package var submittedBy: String
  package var submittedAt: Date
  /// When the last of its jobs ended; nil while some haven't.
  package var endedAt: Date?
  /// All its jobs, those that were removed since included.
  package var total: Int
  /// Jobs that haven't ended.
  package var pending: Int
  /// Jobs that ended without having succeeded.
  package var failed: Int
  /// The job that runs after them all.
  package var callback: Int64?
  package var condition: JobDependency.Condition
  /// The progress of its jobs, added.
  package var progress: JobProgress
  package var jobs: [Int64]

  /// A batch at one moment.
  package init(
    id: Int64, name: String? = nil, submittedBy: String, submittedAt: Date, endedAt: Date? = nil, total: Int,
    pending: Int, failed: Int, callback: Int64? = nil, condition: JobDependency.Condition = .succeeded,
    progress: JobProgress = JobProgress(), jobs: [Int64] = []
  ) {
    self.id = id
    self.name = name
    self.submittedBy = submittedBy
    self.submittedAt = submittedAt
    self.endedAt = endedAt
    self.total = total
    self.pending = pending
    self.failed = failed
    self.callback = callback
    self.condition = condition
    self.progress = progress
    self.jobs = jobs
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case id, name
    case submittedBy = "submitted_by"
    case submittedAt = "submitted_at"
    case endedAt = "ended_at"
    case total, pending, failed, callback, condition, progress, jobs
  }
}
