/// That a job follows another.
public struct JobDependency: Sendable, Hashable, Codable {
  /// How the other job is to have ended.
  public enum Condition: String, Sendable, Hashable, Codable, CaseIterable {
    /// It is `completed`. If it ends otherwise, the job that follows it is cancelled.
    case succeeded
    /// It is `completed`, `cancelled` or `discarded`.
    case ended
  }

  /// The number of the job that is followed.
  public var job: Int64
  /// How it is to have ended.
  public var condition: Condition

  /// A dependency; on its success, when nothing else is said.
  public init(job: Int64, condition: Condition = .succeeded) {
    self.job = job
    self.condition = condition
  }
}
