public import Foundation

/// A job as it stood at one moment: what crosses from the queue's contexts to everybody else.
public struct JobSnapshot: Sendable, Hashable, Codable, Identifiable {
  /// One step of a job's life.
  public struct Transition: Sendable, Hashable, Codable {
    /// When.
    public var at: Date
    /// Where it stood before; nil for the submission.
    public var from: JobState?
    /// Where it stood then.
    public var to: JobState
    /// Why.
    public var reason: String
    /// Who wanted it; nil for the queue itself.
    public var by: String?
  }

  /// The job's number, never used again.
  public var id: Int64
  /// What is to be done.
  public var kind: String
  /// The lane in which it runs.
  public var lane: String
  /// Where it stands.
  public var state: JobState
  /// Higher runs earlier.
  public var priority: Int
  /// The data store that it works on.
  public var store: String?
  /// The entity that it works on.
  public var entity: String?
  /// How records are taken in; the operation knows.
  public var mode: String?
  /// The recipe of the configuration that it follows.
  public var recipe: String?
  /// The input's name as it was handed in.
  public var source: String?
  /// The input's name in the spool's `active/`.
  public var activeName: String?
  /// The input's format, where it isn't to be guessed.
  public var format: String?
  /// What else the operation is told: a JSON object. See ``decodeOptions(as:)``.
  public var options: String
  /// Words to find it by.
  public var tags: [String]
  /// Who handed it in.
  public var submittedBy: String
  /// Of the jobs with one key only one is in the queue at a time.
  public var uniqueKey: String?
  /// What the daemon made it of; nil of one that somebody handed in, and of an entry of the spool that has arrived.
  public var origin: JobOrigin?

  /// When it was handed in. All times are kept to the microsecond.
  public var submittedAt: Date
  /// It doesn't run earlier.
  public var notBefore: Date?
  /// When it becomes available, while it waits for a time.
  public var availableAt: Date?
  /// When its latest attempt began.
  public var startedAt: Date?
  /// When it ended.
  public var endedAt: Date?
  /// Attempts made, the running one included.
  public var attempt: Int
  /// Attempts allowed in all.
  public var maxAttempts: Int
  /// How often the daemon ended while it ran.
  public var rescues: Int
  /// Whether somebody holds it back.
  public var isHeld: Bool
  /// Whether its file isn't in `active/` yet.
  public var isAwaitingFile: Bool
  /// Whether it waits for the end of jobs that it follows.
  public var isAwaitingJobs: Bool
  /// Whether somebody wants the running job stopped.
  public var isCancelRequested: Bool
  /// Seconds that an attempt may take.
  public var timeout: TimeInterval?
  /// It is to have ended by then.
  public var deadline: Date?
  /// The number of the batch that it belongs to.
  public var batch: Int64?

  /// Why it stands where it stands.
  public var reason: String?
  /// The code of its latest failure.
  public var failureCode: String?
  /// What its operation had to say at its end.
  public var note: String?
  /// How far it is, and what it has done.
  public var progress: JobProgress
  /// Every step, oldest first; nil unless asked for.
  public var transitions: [Transition]?
  /// The jobs that it follows, or followed; nil unless asked for with the transitions.
  public var after: [JobDependency]?
  /// What a job that hasn't begun waits for, in words: `store main, which job 12 (vacuum) has alone`. nil when it is next
  /// in its lane, and in the news of changes.
  public var waitsFor: String?

  /// The options as the operation's own type.
  /// - Throws: a `DecodingError` that says what doesn't fit.
  public func decodeOptions<T: Decodable>(as type: T.Type) throws -> T {
    try JSONDecoder().decode(type, from: Data(options.utf8))
  }
}
