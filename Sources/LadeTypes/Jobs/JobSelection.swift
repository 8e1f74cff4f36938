package import FoundationEssentials

/// Which jobs are meant: of a list, or of a change of many at once. What isn't said doesn't matter.
package struct JobSelection: Codable, Sendable, Hashable {
  /// Only these; nil for any.
  package var jobs: [Int64]?
  /// Only jobs in one of these states; empty for all.
  package var states: [JobState]
  package var kind: String?
  package var lane: String?
  package var store: String?
  package var entity: String?
  package var recipe: String?
  package var tag: String?
  /// Who handed them in: a user's name or number, or what a job's `submitted_by` says.
  package var submittedBy: String?
  package var uniqueKey: String?
  package var batch: Int64?
  /// Whether they are on hold.
  package var isHeld: Bool?
  /// What the failure's code is like: `*` stands for any characters, `?` for one.
  package var error: String?
  /// What the source is like, by the same signs.
  package var file: String?
  /// Only jobs that were submitted then or later.
  package var since: Date?

  /// A selection; without arguments, every job.
  package init(
    jobs: [Int64]? = nil, states: [JobState] = [], kind: String? = nil, lane: String? = nil, store: String? = nil,
    entity: String? = nil, recipe: String? = nil, tag: String? = nil, submittedBy: String? = nil,
    uniqueKey: String? = nil, batch: Int64? = nil, isHeld: Bool? = nil, error: String? = nil, file: String? = nil,
    since: Date? = nil
  ) {
    self.jobs = jobs
    self.states = states
    self.kind = kind
    self.lane = lane
    self.store = store
    self.entity = entity
    self.recipe = recipe
    self.tag = tag
    self.submittedBy = submittedBy
    self.uniqueKey = uniqueKey
    self.batch = batch
    self.isHeld = isHeld
    self.error = error
    self.file = file
    self.since = since
  }

  /// Whether it says nothing, and so means every job.
  package var isEverything: Bool { self == JobSelection() }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case jobs, states, kind, lane, store, entity, recipe, tag
    case submittedBy = "submitted_by"
    case uniqueKey = "unique_key"
    case batch
    case isHeld = "held"
    case error, file, since
  }

  /// Reads one; every key may be left out, and one that isn't known is an error: a misspelt `lane` must not mean all lanes.
  package init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let body = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      jobs: try body.decodeIfPresent([Int64].self, forKey: .jobs),
      states: try body.decodeIfPresent([JobState].self, forKey: .states) ?? [],
      kind: try body.decodeIfPresent(String.self, forKey: .kind),
      lane: try body.decodeIfPresent(String.self, forKey: .lane),
      store: try body.decodeIfPresent(String.self, forKey: .store),
      entity: try body.decodeIfPresent(String.self, forKey: .entity),
      recipe: try body.decodeIfPresent(String.self, forKey: .recipe),
      tag: try body.decodeIfPresent(String.self, forKey: .tag),
      submittedBy: try body.decodeIfPresent(String.self, forKey: .submittedBy),
      uniqueKey: try body.decodeIfPresent(String.self, forKey: .uniqueKey),
      batch: try body.decodeIfPresent(Int64.self, forKey: .batch),
      isHeld: try body.decodeIfPresent(Bool.self, forKey: .isHeld),
      error: try body.decodeIfPresent(String.self, forKey: .error),
      file: try body.decodeIfPresent(String.self, forKey: .file),
      since: try body.decodeIfPresent(Date.self, forKey: .since))
  }
}
