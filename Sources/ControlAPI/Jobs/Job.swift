package import FoundationEssentials

/// A job as the daemon shows it.
package struct Job: Codable, Sendable, Hashable, Identifiable {
  /// Never used for another job.
  package var id: Int64
  /// What it does: `import`.
  package var kind: String
  package var lane: String
  package var state: JobState
  /// The higher, the earlier.
  package var priority: Int
  /// The data store's name.
  package var store: String
  package var entity: String
  /// Nil where each of a feed's entities has the mode that it has by default.
  package var mode: ImportMode?
  /// The recipe of the configuration it came by.
  package var recipe: String?
  /// The file's name as it was submitted.
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
    submittedBy: String? = nil, progress: JobProgress = JobProgress(), reason: String? = nil,
    note: String? = nil, rejectsFile: String? = nil, transitions: [JobTransition]? = nil
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
    self.progress = progress
    self.reason = reason
    self.note = note
    self.rejectsFile = rejectsFile
    self.transitions = transitions
  }

  private enum CodingKeys: String, CodingKey {
    case id, kind, lane, state, priority, store, entity, mode, recipe, source
    case submittedAt = "submitted_at"
    case availableAt = "available_at"
    case startedAt = "started_at"
    case endedAt = "ended_at"
    case attempt
    case maxAttempts = "max_attempts"
    case submittedBy = "submitted_by"
    case progress, reason, note
    case rejectsFile = "rejects_file"
    case transitions
  }
}
