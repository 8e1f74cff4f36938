/// A job's state. The names are those of Oban and River. Only the queue's state machine moves a job from one to another.
public enum JobState: String, Sendable, Hashable, Codable, CaseIterable, CodingKeyRepresentable {
  /// Waits for its time, for its file to be handed over, for the jobs it depends on, or for a release.
  ///
  /// It becomes `available` when the queue's timer fires, the last dependency ends, the spool hands the file over, or the
  /// user who held it releases it. Cancelling it, or the failure of a dependency, makes it `cancelled`; a deadline that
  /// passes makes it `discarded`.
  case scheduled
  /// May run. Its lane claims it, by priority and then by age, and makes it `running`. Holding it makes it `scheduled`,
  /// cancelling it `cancelled`.
  case available
  /// Its operation runs. The operation's outcome makes it `completed`, `cancelled`, `retryable` or `discarded`, or
  /// `available` when the daemon is drained. After a kill, the next start makes it `available`.
  case running
  /// An attempt failed in a way that may pass. The queue's timer makes it `available` for the next attempt, as does a
  /// manual retry; cancelling it makes it `cancelled`.
  case retryable
  /// Succeeded. Nothing moves it any more.
  case completed
  /// Was stopped, perhaps with a part of its batches saved. Only a retry moves it, to `available`.
  case cancelled
  /// Failed for good: its attempts are used up, or another attempt can't help. Only a retry moves it, to `available`.
  case discarded

  /// Whether nothing more happens to the job unless it is retried.
  public var isEnded: Bool {
    switch self {
    case .completed, .cancelled, .discarded: true
    case .scheduled, .available, .running, .retryable: false
    }
  }
}
