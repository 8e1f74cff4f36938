/// A job that another job waits for.
public struct JobDependency: Codable, Sendable, Hashable {
  /// How the other job must have ended.
  public enum Condition: String, Codable, Sendable, Hashable, CaseIterable {
    /// It is `completed`. If it ends otherwise, the job that waits for it is cancelled.
    case succeeded
    /// It is `completed`, `cancelled` or `discarded`.
    case ended
  }

  /// The number of the other job.
  public var job: Int64
  /// How it must have ended.
  public var condition: Condition

  /// A dependency; by default on the other job's success.
  public init(job: Int64, condition: Condition = .succeeded) {
    self.job = job
    self.condition = condition
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case job, condition }

  /// Reads a dependency; `condition` may be left out.
  public init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let body = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      job: try body.decode(Int64.self, forKey: .job),
      condition: try body.decodeIfPresent(Condition.self, forKey: .condition) ?? .succeeded)
  }
}
