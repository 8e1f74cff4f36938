/// Where a job stands. The names are those of Oban and River; ``JobStateMachine`` is the only way from one to another.
public enum JobState: String, Sendable, Hashable, Codable, CaseIterable, CodingKeyRepresentable {
  /// Waits for its time, for its file to be handed over, for the jobs that it follows, or for somebody to release it.
  /// The queue's timer moves it to `available` when its time has come, the end of the last job that it follows, the
  /// spool's hand-over or whoever held it when it was held back; whoever cancels it moves it to `cancelled`, as does the
  /// failure of a job that it follows; a deadline that passes moves it to `discarded`.
  case scheduled
  /// May run. Its lane claims it, by priority and then by age, and moves it to `running`; whoever holds it moves it
  /// back to `scheduled`, whoever cancels it to `cancelled`.
  case available
  /// Its operation runs. The operation's outcome moves it out: to `completed`, `cancelled`, `retryable` or `discarded`,
  /// or back to `available` when the daemon is drained. After a kill the next start moves it back to `available`.
  case running
  /// Failed in a way that may pass, and waits for its next attempt. The queue's timer moves it to `available`, as does
  /// whoever doesn't want to wait; whoever cancels it moves it to `cancelled`.
  case retryable
  /// Did what it was to do. Nobody moves it any more.
  case completed
  /// Was stopped by somebody, perhaps with a part of its batches saved. Only whoever retries it moves it, to
  /// `available`.
  case cancelled
  /// Failed for good. Only whoever retries it moves it, to `available`.
  case discarded

  /// Whether nothing more happens to the job unless somebody retries it.
  public var isEnded: Bool {
    switch self {
    case .completed, .cancelled, .discarded: return true
    case .scheduled, .available, .running, .retryable: return false
    }
  }
}
