/// How an operation ended.
public enum JobOutcome: Sendable, Equatable {
  /// It did everything. `note` is for people: what there is to say beside the numbers.
  case completed(JobProgress, note: String? = nil)
  /// It stopped because it was cancelled; what it saved stays.
  case cancelled(JobProgress)
  /// It stopped because the daemon stops, and is to go on from there.
  case interrupted(JobProgress)
  /// It failed; what it saved stays.
  case failed(JobFailure, JobProgress)

  /// How far it came.
  public var progress: JobProgress {
    switch self {
    case .completed(let progress, _), .cancelled(let progress), .interrupted(let progress), .failed(_, let progress):
      return progress
    }
  }
}
