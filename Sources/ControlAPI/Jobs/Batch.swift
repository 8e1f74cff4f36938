/// A group of jobs to be made, all of them or none: the body of `POST /v1/batches`.
package struct BatchSubmission: Codable, Sendable, Hashable {
  /// The most jobs that one request makes; more can be put into the batch later, by ``JobSubmission/batch``.
  package static let maximumJobs = 256

  /// One job of the group.
  package struct Member: Codable, Sendable, Hashable {
    /// What others of the batch call it.
    package var name: String?
    package var job: JobSubmission
    /// The names of those that it follows, and how these are to have ended.
    package var after: [String: JobDependency.Condition]

    /// A job of the group, which follows none of it where none is given.
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
  /// A job that runs after them all.
  package var callback: JobSubmission?
  /// How they are to have ended for the callback to run.
  package var condition: JobDependency.Condition

  /// A group of jobs.
  package init(
    name: String? = nil, jobs: [Member], callback: JobSubmission? = nil,
    condition: JobDependency.Condition = .succeeded
  ) {
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
