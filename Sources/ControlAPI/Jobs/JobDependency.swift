/// Another job that a job waits for.
package struct JobDependency: Codable, Sendable, Hashable {
  /// What the other has to have done.
  package enum Condition: String, Codable, Sendable, Hashable, CaseIterable {
    /// Completed. Where it is cancelled or discarded, so is the job that waits.
    case succeeded
    /// Ended, whichever way.
    case ended
  }

  /// The other job's number.
  package var job: Int64
  package var condition: Condition

  /// A dependency; by itself on the other's success.
  package init(job: Int64, condition: Condition = .succeeded) {
    self.job = job
    self.condition = condition
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case job, condition }

  /// Reads one; `condition` may be left out.
  package init(from decoder: any Decoder) throws {
    try decoder.refuseKeys(otherThan: CodingKeys.self)
    let body = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      job: try body.decode(Int64.self, forKey: .job),
      condition: try body.decodeIfPresent(Condition.self, forKey: .condition) ?? .succeeded)
  }
}
