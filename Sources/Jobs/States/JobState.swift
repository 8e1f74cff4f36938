/// The state of a job. The names are those of Oban and River; only ``JobStateMachine`` changes it.
public enum JobState: String, Sendable, Hashable, Codable, CaseIterable, CodingKeyRepresentable {
  /// Waits for its time, for its file, for the jobs that it follows, or for its release. It becomes `available` by the
  /// queue's timer, by the end of the last job that it follows, by the hand-over of its file, or by its release. A user who
  /// cancels it, or the failure of a job that it follows, makes it `cancelled`; a deadline that passes, `discarded`.
  case scheduled
  /// May run. Its lane claims it, by priority and then by age, which makes it `running`. A user can hold it (`scheduled`) or
  /// cancel it (`cancelled`).
  case available
  /// Its operation runs. The operation's outcome moves it out: to `completed`, `cancelled`, `retryable` or `discarded`,
  /// or back to `available` when the daemon is drained. After a kill the next start moves it back to `available`.
  case running
  /// Failed in a way that may pass, and waits for its next attempt. The queue's timer makes it `available`, as does a user
  /// who retries it; a user who cancels it makes it `cancelled`.
  case retryable
  /// Has done its work. This state is final.
  case completed
  /// Was cancelled, perhaps with a part of its batches saved. Only a retry changes that, to `available`.
  case cancelled
  /// Failed for good. Only a retry changes that, to `available`.
  case discarded

  /// Whether nothing more happens to the job unless it is retried.
  public var isEnded: Bool {
    switch self {
    case .completed, .cancelled, .discarded: return true
    case .scheduled, .available, .running, .retryable: return false
    }
  }
}
