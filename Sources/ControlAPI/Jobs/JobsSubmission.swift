/// Many jobs to be made, each for itself: the body of `POST /v1/jobs/many`.
package struct JobsSubmission: Codable, Sendable, Hashable {
  /// The most jobs that one request makes.
  package static let maximumJobs = 256

  package var jobs: [JobSubmission]

  /// Jobs that have nothing to do with each other.
  package init(jobs: [JobSubmission]) { self.jobs = jobs }

  package enum CodingKeys: String, CodingKey, CaseIterable { case jobs }

  /// Reads them.
  package init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    self.init(jobs: try decoder.container(keyedBy: CodingKeys.self).decode([JobSubmission].self, forKey: .jobs))
  }
}

/// What became of one of many submissions: a job, or the problem for which there is none.
package struct JobReceipt: Codable, Sendable, Hashable {
  /// The job's number.
  package var id: Int64?
  /// Whether the job was there before, with the same unique key; nil for no.
  package var isOld: Bool?
  /// Why there is no job, or one that was cancelled because its file couldn't be copied.
  package var problem: Problem?

  /// The receipt for a job.
  package init(id: Int64, isOld: Bool = false) {
    self.id = id
    self.isOld = isOld ? true : nil
  }

  /// A refusal.
  package init(problem: Problem) { self.problem = problem }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case id
    case isOld = "existing"
    case problem
  }
}

/// What `POST /v1/jobs/many` answers.
package struct JobReceiptList: Codable, Sendable, Hashable {
  /// In the order of the submissions.
  package var jobs: [JobReceipt]

  /// Receipts.
  package init(jobs: [JobReceipt]) { self.jobs = jobs }

  package enum CodingKeys: String, CodingKey, CaseIterable { case jobs }
}
