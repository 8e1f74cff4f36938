package import Foundation

/// What somebody wants done: what ``JobQueue/submit(_:)`` makes a job of.
package struct JobSubmission: Sendable, Equatable {
  /// What is to be done: a kind of the queue's ``OperationCatalogue``.
  package var kind: String
  /// The lane in which it runs.
  package var lane: String
  /// Higher runs earlier; 0 for most.
  package var priority: Int
  /// The data store that it works on, by the name in the configuration.
  package var store: String?
  /// The entity that it works on.
  package var entity: String?
  /// How records are taken in: `insert`, `upsert`, …; the operation knows.
  package var mode: String?
  /// The recipe of the configuration that it follows.
  package var recipe: String?
  /// The input's name as it was handed in; for people.
  package var source: String?
  /// The input's name in the spool's `active/`, when it stands there already.
  package var activeName: String?
  /// The input's format, where it isn't to be guessed.
  package var format: String?
  /// What else the operation is told: a JSON object.
  package var options: String
  /// Words to find it by, each without `|`.
  package var tags: [String]
  /// It doesn't run earlier.
  package var notBefore: Date?
  /// Whether it waits until somebody releases it.
  package var isHeld: Bool
  /// Whether it waits until ``JobQueue/fileArrived(_:activeName:by:)`` says that its file is in `active/`.
  package var awaitsFile: Bool
  /// Whether there is to be one such job: a second submission is answered with the first.
  package var uniqueness: JobUniqueness?
  /// Seconds that an attempt may take; nil for any time. One that takes longer is stopped, and has failed.
  package var timeout: TimeInterval?
  /// It is to have ended by then: past it, it doesn't begin, and is stopped if it runs.
  package var deadline: Date?
  /// The jobs that it follows.
  package var after: [JobDependency]
  /// The batch that it is put into; its jobs haven't all ended.
  package var batch: Int64?
  /// How often it is tried in all.
  package var maxAttempts: Int
  /// What the daemon makes it of: one origin makes one job.
  package var origin: JobOrigin?
  /// Who hands it in.
  package var submittedBy: String

  /// A submission for an operation of `kind`; what else isn't given can be set on it.
  package init(
    kind: String, lane: String, priority: Int = 0, store: String? = nil, entity: String? = nil, mode: String? = nil,
    recipe: String? = nil, source: String? = nil, activeName: String? = nil, format: String? = nil,
    options: String = "{}", tags: [String] = [], notBefore: Date? = nil, isHeld: Bool = false,
    awaitsFile: Bool = false, uniqueKey: String? = nil, maxAttempts: Int = 5, origin: JobOrigin? = nil,
    timeout: TimeInterval? = nil, deadline: Date? = nil, after: [JobDependency] = [], batch: Int64? = nil,
    submittedBy: String
  ) {
    self.kind = kind
    self.lane = lane
    self.priority = priority
    self.store = store
    self.entity = entity
    self.mode = mode
    self.recipe = recipe
    self.source = source
    self.activeName = activeName
    self.format = format
    self.options = options
    self.tags = tags
    self.notBefore = notBefore
    self.isHeld = isHeld
    self.awaitsFile = awaitsFile
    self.uniqueness = uniqueKey.map { JobUniqueness(key: $0) }
    self.timeout = timeout
    self.deadline = deadline
    self.after = after
    self.batch = batch
    self.maxAttempts = maxAttempts
    self.origin = origin
    self.submittedBy = submittedBy
  }

  /// Of the jobs with one key only one is in the queue at a time. Short for a ``uniqueness`` without a period.
  package var uniqueKey: String? {
    get { uniqueness?.key }
    set { uniqueness = newValue.map { JobUniqueness(key: $0) } }
  }
}
