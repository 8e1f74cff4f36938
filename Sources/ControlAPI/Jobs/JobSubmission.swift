package import FoundationEssentials

/// A job to be made: the body of `POST /v1/jobs`. What is nil, the recipe or the daemon's configuration says.
///
/// A key that this version doesn't know is an error, not ignored: a misspelt `priority` must not be a job without one.
package struct JobSubmission: Codable, Sendable, Hashable {
  /// What is to be done: `import`, `export`, `vacuum`, …
  package var kind: String
  package var store: String?
  package var entity: String?
  package var recipe: String?
  /// The input's absolute path, as the daemon sees it; imports and restores have one.
  package var source: String?
  package var mode: ImportMode?
  package var lane: String?
  package var priority: Int?
  /// Words to find the job by.
  package var tags: [String]
  /// Whether it waits until somebody releases it.
  package var isHeld: Bool
  /// Not started before this.
  package var notBefore: Date?
  /// Cancelled if it hasn't ended by then.
  package var deadline: Date?
  /// Seconds that one attempt may take.
  package var timeout: Double?
  /// Jobs that it waits for.
  package var after: [JobDependency]
  /// A job with the same key that hasn't ended is the answer instead of a second one.
  package var uniqueKey: String?
  /// Seconds in which a job with the same key counts, from its submission; nil for ever.
  package var uniquePeriod: Double?
  /// The states in which a job with the same key counts; nil for those of jobs that haven't ended.
  package var uniqueStates: [JobState]?
  /// A batch whose jobs haven't all ended, to put it into.
  package var batch: Int64?
  package var maxAttempts: Int?
  /// What the operation is told, by name: of an import what recipes say, such as `delimiter`.
  package var options: [String: OptionValue]

  /// A submission of one file, or of another kind of work.
  package init(
    kind: String = "import", source: String? = nil, store: String? = nil, entity: String? = nil, recipe: String? = nil,
    mode: ImportMode? = nil, lane: String? = nil, priority: Int? = nil, tags: [String] = [], isHeld: Bool = false,
    notBefore: Date? = nil, deadline: Date? = nil, timeout: Double? = nil, after: [JobDependency] = [],
    uniqueKey: String? = nil, uniquePeriod: Double? = nil, uniqueStates: [JobState]? = nil, batch: Int64? = nil,
    maxAttempts: Int? = nil,
    options: [String: OptionValue] = [:]
  ) {
    self.kind = kind
    self.store = store
    self.entity = entity
    self.recipe = recipe
    self.source = source
    self.mode = mode
    self.lane = lane
    self.priority = priority
    self.tags = tags
    self.isHeld = isHeld
    self.notBefore = notBefore
    self.deadline = deadline
    self.timeout = timeout
    self.after = after
    self.uniqueKey = uniqueKey
    self.uniquePeriod = uniquePeriod
    self.uniqueStates = uniqueStates
    self.batch = batch
    self.maxAttempts = maxAttempts
    self.options = options
  }

  /// Reads one; every key may be left out.
  package init(from decoder: any Decoder) throws {
    try decoder.refuseKeys(otherThan: CodingKeys.self)
    let body = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      kind: try body.decodeIfPresent(String.self, forKey: .kind) ?? "import",
      source: try body.decodeIfPresent(String.self, forKey: .source),
      store: try body.decodeIfPresent(String.self, forKey: .store),
      entity: try body.decodeIfPresent(String.self, forKey: .entity),
      recipe: try body.decodeIfPresent(String.self, forKey: .recipe),
      mode: try body.decodeIfPresent(ImportMode.self, forKey: .mode),
      lane: try body.decodeIfPresent(String.self, forKey: .lane),
      priority: try body.decodeIfPresent(Int.self, forKey: .priority),
      tags: try body.decodeIfPresent([String].self, forKey: .tags) ?? [],
      isHeld: try body.decodeIfPresent(Bool.self, forKey: .isHeld) ?? false,
      notBefore: try body.decodeIfPresent(Date.self, forKey: .notBefore),
      deadline: try body.decodeIfPresent(Date.self, forKey: .deadline),
      timeout: try body.decodeIfPresent(Double.self, forKey: .timeout),
      after: try body.decodeIfPresent([JobDependency].self, forKey: .after) ?? [],
      uniqueKey: try body.decodeIfPresent(String.self, forKey: .uniqueKey),
      uniquePeriod: try body.decodeIfPresent(Double.self, forKey: .uniquePeriod),
      uniqueStates: try body.decodeIfPresent([JobState].self, forKey: .uniqueStates),
      batch: try body.decodeIfPresent(Int64.self, forKey: .batch),
      maxAttempts: try body.decodeIfPresent(Int.self, forKey: .maxAttempts),
      options: try body.decodeIfPresent([String: OptionValue].self, forKey: .options) ?? [:])
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case kind, store, entity, recipe, source, mode, lane, priority, tags
    case isHeld = "held"
    case notBefore = "not_before"
    case deadline, timeout, after
    case uniqueKey = "unique_key"
    case uniquePeriod = "unique_period"
    case uniqueStates = "unique_states"
    case batch
    case maxAttempts = "max_attempts"
    case options
  }
}
