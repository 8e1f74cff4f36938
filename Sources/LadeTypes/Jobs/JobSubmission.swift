public import FoundationEssentials

/// A job to be made: a ticket, the body of `POST /v1/jobs`, the job of a schedule. The recipe or the daemon's
/// configuration fills in what is nil.
///
/// A key that this version doesn't know is an error: a misspelt `priority` must not be a job without one.
///
/// Operations look at it in `JobOperation.check(_:in:)`.
public struct JobSubmission: Codable, Sendable, Hashable {
  /// The priorities that a job can have.
  package static let priorityRange = -1_000_000...1_000_000
  /// How often a job can be tried.
  package static let attemptsRange = 1...1000
  /// The most different tags that a job can have.
  package static let mostTags = 100
  /// How often a job is tried if nothing else is said.
  package static let defaultAttempts = 5

  /// The kind of operation: `import`, `export`, `vacuum`, …
  public package(set) var kind = "import"
  /// The data store that it works on.
  public package(set) var store: String?
  /// The entity that it works on.
  public package(set) var entity: String?
  /// The recipe that it follows.
  public package(set) var recipe: String?
  /// The input: an absolute path as the daemon sees it, or in a ticket the name of a file beside it. In the queue it is
  /// the file's own name, for people.
  public package(set) var source: String?
  /// Several files in place of ``source``, which are imported as a set: as paths, or names beside a ticket.
  package var files: [String] = []
  /// What an import does with records whose key is already in the store.
  public package(set) var mode: ImportMode?
  /// The lane in which it is to run.
  public package(set) var lane: String?
  /// A higher priority runs earlier.
  public package(set) var priority: Int?
  /// Words to find the job by, each without `|`. One that is given twice counts once.
  public package(set) var tags: [String] = []
  /// Whether it waits for a release.
  public package(set) var isHeld = false
  /// It doesn't start earlier.
  public package(set) var notBefore: Date?
  /// A job that hasn't begun by then is cancelled; one that runs is stopped, and has failed.
  public package(set) var deadline: Date?
  /// Seconds that one attempt may take. An attempt that takes longer is stopped, and has failed.
  public package(set) var timeout: Double?
  /// Jobs that it waits for.
  public package(set) var after: [JobDependency] = []
  /// If a job with the same key hasn't ended, it is the answer instead of a second one. The options are those of Oban's
  /// `unique`.
  public package(set) var uniqueKey: String?
  /// Seconds since its submission in which a job with the same key counts; nil for ever.
  public package(set) var uniquePeriod: Double?
  /// The states in which a job with the same key counts. Nil for all jobs that haven't ended, and with a period for
  /// those that completed too.
  public package(set) var uniqueStates: Set<JobState>?
  /// A batch whose jobs haven't all ended, to add it to.
  public package(set) var batch: Int64?
  /// How often it is tried.
  public package(set) var maxAttempts: Int?
  /// The operation's options by name; for an import those that recipes have, such as `delimiter`.
  package var options: [String: OptionValue] = [:]

  // What the daemon adds. Never on the wire.

  /// The options as the operation reads them, where they aren't simply ``options``: those of an import are merged with its
  /// recipe's. A JSON object, as an encoder has written it: the queue doesn't parse it again.
  package var resolvedOptions: String?
  /// Who submits it.
  public package(set) var submittedBy = ""
  /// What the daemon makes it from: one origin makes one job.
  package var origin: JobOrigin?
  /// Whether it waits until its file is in `active/`.
  package var awaitsFile = false
  /// The input's name in the spool's `active/`, if it is already there.
  package var activeName: String?
  /// The input's format, if it is fixed.
  package var format: String?

  /// A submission of one file, or of another kind of work.
  package init(
    kind: String = "import", source: String? = nil, store: String? = nil, entity: String? = nil, recipe: String? = nil,
    mode: ImportMode? = nil, lane: String? = nil, priority: Int? = nil, tags: [String] = [], isHeld: Bool = false,
    notBefore: Date? = nil, deadline: Date? = nil, timeout: Double? = nil, after: [JobDependency] = [],
    uniqueKey: String? = nil, uniquePeriod: Double? = nil, uniqueStates: Set<JobState>? = nil, batch: Int64? = nil,
    maxAttempts: Int? = nil, options: [String: OptionValue] = [:], submittedBy: String = ""
  ) {
    self.kind = kind
    self.store = store
    self.entity = entity
    self.recipe = recipe
    self.source = source
    self.mode = mode
    self.lane = lane
    self.priority = priority
    self.tags = Self.distinct(tags)
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
    self.submittedBy = submittedBy
  }

  /// The submission of a file that a recipe has imported before. Its tag is `replay`.
  package static func replay(of recipe: String, lane: String?, priority: Int) -> JobSubmission {
    JobSubmission(recipe: recipe, lane: lane, priority: priority, tags: ["replay"])
  }

  /// How the unique keys begin by which the daemon has one replay of a recipe, and one retry of a job's rejects, at a time.
  package static let keyOfReplays = "replay:"
  package static let keyOfRetries = "rejects of job "
  /// And one job that reads a recipe's database.
  package static let keyOfSources = "from:"

  /// Whether a unique key is one of the daemon's own, with which a submission could hold up others' work.
  package static func isReserved(uniqueKey: String) -> Bool {
    [keyOfReplays, keyOfRetries, keyOfSources].contains { uniqueKey.hasPrefix($0) }
  }

  /// The submission of a job's rejects, under its recipe as it is now. Without one it has what the job had.
  /// - Parameter mode: the one that the job's submission gave beside the recipe.
  package static func retry(ofRejectsOf job: Job, mode: ImportMode?, uniqueKey: String) -> JobSubmission {
    JobSubmission(
      store: job.store, entity: job.entity, recipe: job.recipe, mode: mode,
      lane: job.recipe == nil ? job.lane : nil, priority: job.recipe == nil ? job.priority : nil, tags: job.tags,
      uniqueKey: uniqueKey)
  }

  /// Reads a submission; every key may be left out.
  public init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let body = try decoder.container(keyedBy: CodingKeys.self)
    func read<Value: Decodable>(_ key: CodingKeys, _ type: Value.Type = Value.self) throws -> Value? {
      try body.decodeIfPresent(type, forKey: key)
    }
    kind = try read(.kind) ?? kind
    store = try read(.store)
    entity = try read(.entity)
    recipe = try read(.recipe)
    source = try read(.source)
    files = try read(.files) ?? files
    mode = try read(.mode)
    lane = try read(.lane)
    priority = try read(.priority)
    tags = Self.distinct(try read(.tags) ?? tags)
    isHeld = try read(.isHeld) ?? isHeld
    notBefore = try read(.notBefore)
    deadline = try read(.deadline)
    timeout = try read(.timeout)
    after = try read(.after) ?? after
    uniqueKey = try read(.uniqueKey)
    uniquePeriod = try read(.uniquePeriod)
    uniqueStates = try read(.uniqueStates)
    batch = try read(.batch)
    maxAttempts = try read(.maxAttempts)
    options = try read(.options) ?? options
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case kind, store, entity, recipe, source, files, mode, lane, priority, tags
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

  /// The options as the operation's own type.
  /// - Throws: ``JobOptionsError``, which refuses the submission: it says which option doesn't fit.
  public func decodeOptions<T: Decodable>(as type: T.Type) throws -> T {
    try JobOptionsError.decode(type, from: encodedOptions())
  }

  /// The options as a JSON object with sorted keys, as the queue's store keeps them and the operation reads them.
  package func encodedOptions() throws -> String {
    if let resolvedOptions { return resolvedOptions }
    if options.isEmpty { return "{}" }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return String(decoding: try encoder.encode(options), as: UTF8.self)
  }

  /// Why a value can't be.
  package struct Problem: Sendable, Hashable {
    package let key: CodingKeys
    /// The one that is wrong where the key has a list.
    package let value: String?
    package let reason: String
  }

  /// What is wrong with its values by themselves; nil if nothing is.
  package var problem: Problem? {
    if files.count > FileSet.mostFiles {
      return Problem(
        key: .files, value: nil, reason: "a set has at most \(FileSet.mostFiles) files, and there are \(files.count)")
    }
    if source != nil, !files.isEmpty {
      return Problem(key: .files, value: nil, reason: "there is a source, too: give one file or several")
    }
    if tags.count > Self.mostTags {
      return Problem(
        key: .tags, value: nil, reason: "there may be at most \(Self.mostTags) tags, and there are \(tags.count)")
    }
    // They are stored with | between them.
    return tags.first { $0.isEmpty || $0.contains("|") }.map {
      Problem(key: .tags, value: $0, reason: "“\($0)” can't be a tag: a tag isn't empty, and has no “|”")
    }
  }

  private static func distinct(_ tags: [String]) -> [String] {
    var seen = Set<String>()
    return tags.filter { seen.insert($0).inserted }
  }

  /// The states in which another job with the same key counts.
  package var countedStates: Set<JobState> {
    if let uniqueStates { return uniqueStates }
    let live = Set(JobState.allCases.filter { !$0.isEnded })
    return uniquePeriod == nil ? live : live.union([.completed])
  }
}
