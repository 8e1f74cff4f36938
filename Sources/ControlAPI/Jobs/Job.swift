package import FoundationEssentials

/// A job as the daemon shows it.
package struct Job: Codable, Sendable, Hashable, Identifiable {
  /// Never used for another job.
  package var id: Int64
  /// What it does: `import`, `export`, `vacuum`, …
  package var kind: String
  package var lane: String
  package var state: JobState
  /// The higher, the earlier.
  package var priority: Int
  /// The data store's name; empty where it has none.
  package var store: String
  /// Empty where it is about none.
  package var entity: String
  /// Nil where each of a feed's entities has the mode that it has by default.
  package var mode: ImportMode?
  /// The recipe of the configuration it came by.
  package var recipe: String?
  /// The file's name as it was submitted; empty where it has none.
  package var source: String
  package var submittedAt: Date
  /// Not started before this.
  package var availableAt: Date
  /// When the latest attempt began.
  package var startedAt: Date?
  package var endedAt: Date?
  /// Attempts begun.
  package var attempt: Int
  package var maxAttempts: Int
  package var submittedBy: String?
  /// Words to find it by.
  package var tags: [String]?
  /// Whether somebody holds it back.
  package var isHeld: Bool?
  /// Whether somebody wants it stopped, and it hasn't been yet.
  package var isCancelRequested: Bool?
  /// While it hasn't ended, another with the same key isn't made.
  package var uniqueKey: String?
  /// The batch of jobs that it belongs to.
  package var batch: Int64?
  /// Cancelled if it hasn't ended by then.
  package var deadline: Date?
  /// Seconds that one attempt may take.
  package var timeout: Double?
  /// Jobs that it waits for, or waited for; only when one job is asked for.
  package var after: [JobDependency]?
  /// What an available job waits for, other than a slot of its lane, in words.
  package var waitsFor: String?
  /// The short name of its latest failure.
  package var failureCode: String?
  /// How often the daemon ended while it ran.
  package var rescues: Int?
  package var progress: JobProgress
  /// Why it is in this state: the last error's words, or who cancelled it.
  package var reason: String?
  /// What is to be known of a completed job beside its counts: that it was a dry run, what was taken for granted of the file.
  package var note: String?
  /// The path of the file of records that weren't imported.
  package var rejectsFile: String?
  /// Its steps from the first on; only when one job is asked for.
  package var transitions: [JobTransition]?

  /// A job with everything that is known of it.
  package init(
    id: Int64, kind: String = "import", lane: String, state: JobState, priority: Int = 0, store: String,
    entity: String, mode: ImportMode?, recipe: String? = nil, source: String, submittedAt: Date,
    availableAt: Date, startedAt: Date? = nil, endedAt: Date? = nil, attempt: Int = 0, maxAttempts: Int,
    submittedBy: String? = nil, tags: [String]? = nil, isHeld: Bool? = nil, isCancelRequested: Bool? = nil,
    uniqueKey: String? = nil, batch: Int64? = nil, deadline: Date? = nil, timeout: Double? = nil,
    after: [JobDependency]? = nil, waitsFor: String? = nil, failureCode: String? = nil, rescues: Int? = nil,
    progress: JobProgress = JobProgress(), reason: String? = nil, note: String? = nil, rejectsFile: String? = nil,
    transitions: [JobTransition]? = nil
  ) {
    self.id = id
    self.kind = kind
    self.lane = lane
    self.state = state
    self.priority = priority
    self.store = store
    self.entity = entity
    self.mode = mode
    self.recipe = recipe
    self.source = source
    self.submittedAt = submittedAt
    self.availableAt = availableAt
    self.startedAt = startedAt
    self.endedAt = endedAt
    self.attempt = attempt
    self.maxAttempts = maxAttempts
    self.submittedBy = submittedBy
    self.tags = tags
    self.isHeld = isHeld
    self.isCancelRequested = isCancelRequested
    self.uniqueKey = uniqueKey
    self.batch = batch
    self.deadline = deadline
    self.timeout = timeout
    self.after = after
    self.waitsFor = waitsFor
    self.failureCode = failureCode
    self.rescues = rescues
    self.progress = progress
    self.reason = reason
    self.note = note
    self.rejectsFile = rejectsFile
    self.transitions = transitions
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
    case failureCode = "failure_code"
    case rescues, progress, reason, note
    case rejectsFile = "rejects_file"
    case transitions
  }
}
