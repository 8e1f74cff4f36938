/// Where a job is in its life. The names and their meaning are Oban's and River's.
package enum JobState: String, Codable, Sendable, Hashable, CaseIterable {
  /// It has a time before which it isn't started; the queue makes it available then.
  case scheduled
  /// It waits for a free slot in its lane.
  case available
  /// A worker has it.
  case running
  /// An attempt failed; the next one is at `available_at`.
  case retryable
  case completed
  /// Somebody stopped it.
  case cancelled
  /// It failed for good: its attempts are used up, or trying again can't help.
  case discarded

  /// Whether nothing will ever happen to the job again.
  package var isEnded: Bool {
    switch self {
    case .completed, .cancelled, .discarded: true
    case .scheduled, .available, .running, .retryable: false
    }
  }
}
