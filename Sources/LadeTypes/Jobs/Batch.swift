public import FoundationEssentials

/// A group of jobs to be made, all or none: the body of `POST /v1/batches`.
package struct BatchSubmission: Codable, Sendable, Hashable {
  /// The most jobs that one request makes; more can be added later with ``JobSubmission/batch``.
  package static let maximumJobs = 256
  /// The most jobs that the queue takes as one batch.
  package static let largest = 10_000

  /// One job of the group.
  package struct Member: Codable, Sendable, Hashable {
    /// What others of the batch call it.
    package var name: String?
    package var job: JobSubmission
    /// The names of the members that it waits for, and how they must have ended.
    package var after: [String: JobDependency.Condition]

    /// A member.
    package init(_ job: JobSubmission, name: String? = nil, after: [String: JobDependency.Condition] = [:]) {
      self.name = name
      self.job = job
      self.after = after
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case name, job, after }

    /// Reads one; `name` and `after` may be left out.
    package init(from decoder: any Decoder) throws {
      try decoder.rejectUnknownKeys(CodingKeys.self)
      let body = try decoder.container(keyedBy: CodingKeys.self)
      let after = try body.decodeIfPresent([String: String].self, forKey: .after) ?? [:]
      self.init(
        try body.decode(JobSubmission.self, forKey: .job), name: try body.decodeIfPresent(String.self, forKey: .name),
        after: try after.mapValues { word in
          guard let condition = JobDependency.Condition(rawValue: word) else {
            throw DecodingError.dataCorruptedError(
              forKey: .after, in: body, debugDescription: "'\(word)' must be succeeded or ended")
          }
          return condition
        })
    }
  }

  /// For people.
  package var name: String?
  package var jobs: [Member]
  /// A job that runs after them all. It isn't one of the group.
  package var callback: JobSubmission?
  /// How they must have ended for the callback to run. If some failed and all must succeed, the callback waits until they
  /// have been retried and have succeeded.
  package var condition: JobDependency.Condition
  /// Who submits it. Not on the wire.
  package var submittedBy = ""

  /// A group of jobs.
  package init(
    name: String? = nil, jobs: [Member], callback: JobSubmission? = nil,
    condition: JobDependency.Condition = .succeeded, submittedBy: String = ""
  ) {
    self.submittedBy = submittedBy
    self.name = name
    self.jobs = jobs
    self.callback = callback
    self.condition = condition
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case name, jobs, callback, condition }

  /// Reads one; all but `jobs` may be left out.
  package init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let body = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      name: try body.decodeIfPresent(String.self, forKey: .name), jobs: try body.decode([Member].self, forKey: .jobs),
      callback: try body.decodeIfPresent(JobSubmission.self, forKey: .callback),
      condition: try body.decodeIfPresent(JobDependency.Condition.self, forKey: .condition) ?? .succeeded)
  }
}

/// A group of jobs: what `GET /v1/batches/{id}` answers.
public struct Batch: Codable, Sendable, Hashable, Identifiable {
  /// The batch's number.
  public var id: Int64
  /// Its name, for people.
  public var name: String?
  /// Who submitted it.
  public var submittedBy: String
  /// When it was submitted.
  public var submittedAt: Date
  /// When the last of its jobs ended; nil while some haven't.
  public var endedAt: Date?
  /// All its jobs, those that were removed since included.
  public var total: Int
  /// Jobs that haven't ended.
  public var pending: Int
  /// Jobs that ended without having succeeded.
  public var failed: Int
  /// The job that runs after them all.
  public var callback: Int64?
  /// How the jobs must have ended for the callback to run.
  public var condition: JobDependency.Condition
  /// The progress of its jobs, added.
  public var progress: JobProgress
  /// The numbers of its jobs.
  public var jobs: [Int64]

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
