public import FoundationEssentials

/// A job as it stood at one moment. The queue makes it, the interface sends it, and programs receive it.
///
/// Its coding is the interface's: what has a coding key is on the wire under that name. The rest stays in the process, because
/// clients can't use it, and may not know where the daemon keeps its files. So a job that was encoded and decoded again has
/// the standard values for ``activeName``, ``format``, ``options``, ``origin``, ``notBefore``, ``isAwaitingFile`` and
/// ``isAwaitingJobs``. A program that wants to come back to a job keeps its ``id`` and asks the queue.
public struct Job: Codable, Sendable, Hashable, Identifiable {
  /// The job's number, never used again.
  public var id: Int64
  /// The kind of operation: `import`, `export`, `vacuum`, …
  public var kind: String
  /// The lane in which it runs.
  public var lane: String
  /// Its state.
  public var state: JobState
  /// A higher priority runs earlier.
  public var priority = 0
  /// The data store that it works on.
  @EmptyWhenNil public var store: String? = nil
  /// The entity that it works on.
  @EmptyWhenNil public var entity: String? = nil
  /// What an import does with records whose key is already in the store. Nil for a feed, whose entities each have their
  /// default mode.
  public var mode: ImportMode?
  /// The recipe of the configuration that it follows.
  public var recipe: String?
  /// The input's name as it was submitted.
  @EmptyWhenNil public var source: String? = nil
  /// Words to find it by.
  @OmittedWhenEmpty public var tags: [String] = []
  /// Who submitted it.
  public var submittedBy: String
  /// Only one job with this key is in the queue at a time.
  public var uniqueKey: String?

  /// When it was submitted. All times are kept to the microsecond.
  public var submittedAt: Date
  /// When it becomes available, while it waits for a time. On the wire there is always one: the earliest start.
  public var availableAt: Date?
  /// When its latest attempt began.
  public var startedAt: Date?
  /// When it ended.
  public var endedAt: Date?
  /// Attempts made, including the running one.
  public var attempt = 0
  /// Attempts allowed altogether.
  public var maxAttempts: Int
  /// How often the daemon ended while the job ran.
  @OmittedWhenEmpty public var rescues = 0
  /// Whether it waits for a release.
  @OmittedWhenEmpty public var isHeld = false
  /// Whether a running job has been asked to stop.
  @OmittedWhenEmpty public var isCancelRequested = false
  /// Seconds that an attempt may take.
  public var timeout: Double?
  /// The job is cancelled if it hasn't ended by then.
  public var deadline: Date?
  /// The number of its batch.
  public var batch: Int64?

  /// Why it is in this state: the last error, or who cancelled it.
  public var reason: String?
  /// The code of its latest failure.
  public var failureCode: String?
  /// What its operation reported at its end. On the wire only of completed jobs.
  public var note: String?
  /// The host that has its file, where several daemons share the queue; nil for a job that has none, or isn't in such a queue.
  public var host: String?
  /// Whether the queue's database has its file as well, so that a daemon on any host may run it.
  @OmittedWhenEmpty public var isFileInDatabase = false
  /// What it has done so far.
  public var progress = JobProgress()
  /// How fast it is now; nil unless it runs, and until that can be told.
  public var rate: CurrentRate?
  /// The path of the file of rejected records. The daemon fills it in; see ``JobProgress/rejectsFile``.
  public var rejectsFile: String?
  /// How many of its rejected records no retry has resolved. The daemon fills it in when one job is asked for.
  public var openRejects: Int64?
  /// The job whose rejected records this one retries. The daemon fills it in.
  public var retryOf: Int64?
  /// What has become so far of the jobs that this one changes; nil for a job of another kind.
  package var change: JobChangeResult?
  /// What it was made from. The daemon fills it in.
  package var originSummary: JobOrigin.Summary?
  /// Its options as they are in force. The daemon fills them in when one job is asked for.
  package var settings: [JobSetting]?
  /// Every transition, oldest first; nil unless asked for.
  public var transitions: [JobTransition]?
  /// The jobs it depends on; nil unless asked for with the transitions.
  public var after: [JobDependency]?
  /// What a job that hasn't begun waits for, such as `store main, which job 12 (vacuum) has alone`. Nil for the next job
  /// of a lane, and in events.
  public var waitsFor: String?
  /// The same as a word.
  public var obstacle: JobObstacle?

  // Not on the wire.

  /// The number of its latest claim, which only rises. It tells the operation that works on the job from earlier ones.
  package var claim: Int64 = 0
  /// What the file is whose bytes are in the queue's store, or were until it completed.
  package var sharedFile: SharedFile?
  /// Where several daemons share the queue, the incarnation of the one that runs it.
  package var daemon: String?
  /// The input's name in the spool's `active/`.
  public var activeName: String?
  /// The input's format, if it is fixed.
  public var format: String?
  /// The operation's options, a JSON object. See ``decodeOptions(as:)``.
  public var options = "{}"
  /// What the daemon made the job from; nil for one that was submitted, and for a spool entry that has arrived.
  public var origin: JobOrigin?
  /// It doesn't run earlier.
  public var notBefore: Date?
  /// Whether its file isn't in `active/` yet.
  public var isAwaitingFile = false
  /// Whether jobs it depends on haven't ended.
  public var isAwaitingJobs = false

  /// A job with what every job has.
  package init(
    id: Int64, kind: String, lane: String, state: JobState, submittedAt: Date, submittedBy: String, maxAttempts: Int
  ) {
    self.id = id
    self.kind = kind
    self.lane = lane
    self.state = state
    self.submittedAt = submittedAt
    self.submittedBy = submittedBy
    self.maxAttempts = maxAttempts
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case id, kind, lane, state, priority, store, entity, mode, recipe, source
    case submittedAt = "submitted_at"
    case availableAt = "available_at"
    case startedAt = "started_at"
    case endedAt = "ended_at"
    case attempt
    case maxAttempts = "max_attempts"
    case submittedBy = "submitted_by"
    case tags
    case isHeld = "held"
    case isCancelRequested = "cancel_requested"
    case uniqueKey = "unique_key"
    case batch, deadline, timeout, after
    case waitsFor = "waits_for"
    case obstacle
    case failureCode = "failure_code"
    case rescues, host
    case isFileInDatabase = "file_in_database"
    case progress, rate, reason, note
    case rejectsFile = "rejects_file"
    case openRejects = "open_rejects"
    case retryOf = "retry_of"
    case change
    case originSummary = "origin"
    case settings, transitions
  }

  /// Whether it may run, or has run, though its spool entry may reappear after a power failure.
  package var isBeforeArrival: Bool { !isAwaitingFile && origin?.endsWithArrival == true }

  /// The options as the operation's own type.
  /// - Throws: ``JobOptionsError``, with which a job fails at once: it says which option doesn't fit.
  public func decodeOptions<T: Decodable>(as type: T.Type) throws(JobOptionsError) -> T {
    try JobOptionsError.decode(type, from: options)
  }
}

/// What a job that hasn't begun waits for, as a word. ``Job/waitsFor`` says it in words.
public enum JobObstacle: String, Codable, Sendable, Hashable, CaseIterable {
  /// Its release: it is held.
  case release
  /// Its file, which isn't in `active/` yet, or is on a host where no daemon works.
  case file
  /// The jobs that it follows.
  case jobs
  /// Its lane, which isn't configured.
  case lane
  /// Its lane, which is paused.
  case paused
  /// Its store, which another job uses alone, or that it is to have alone.
  case store
  /// The rate of its lane.
  case rate
}

/// One step of a job from state to state, as the queue recorded it.
public struct JobTransition: Codable, Sendable, Hashable {
  /// When.
  public var at: Date
  /// The state before; nil for the submission.
  public var from: JobState?
  /// The state after.
  public var to: JobState
  /// Why, in words.
  public var reason: String
  /// Who caused it; nil for the queue itself.
  public var by: String?

  package init(at: Date, from: JobState?, to: JobState, reason: String, by: String? = nil) {
    self.at = at
    self.from = from
    self.to = to
    self.reason = reason
    self.by = by
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case at, from, to, reason, by }
}
