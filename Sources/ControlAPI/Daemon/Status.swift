package import FoundationEssentials

/// How the daemon is: the answer of `GET /v1/status`.
package struct Status: Codable, Sendable, Hashable {
  /// The daemon's version.
  package var version: String
  package var pid: Int32
  package var startedAt: Date
  package var lanes: [LaneStatus]
  /// How many jobs are in each state; a state without jobs may be missing.
  package var counts: [String: Int]
  package var stores: [StoreStatus]
  /// The spool's path.
  package var spool: String
  /// Why files aren't taken, or are found late; nil while all is well.
  package var spoolTrouble: String?
  /// The recipes whose files are expected, and whether these come; nil from a daemon that expects nothing.
  package var recipes: [RecipeFreshness]?
  /// Sets of files that aren't complete, the first hundred; nil where none waits.
  package var sets: [WaitingSet]?

  /// The daemon's state at one moment.
  package init(
    version: String, pid: Int32, startedAt: Date, lanes: [LaneStatus], counts: [JobState: Int],
    stores: [StoreStatus], spool: String, spoolTrouble: String? = nil, recipes: [RecipeFreshness]? = nil,
    sets: [WaitingSet]? = nil
  ) {
    self.version = version
    self.pid = pid
    self.startedAt = startedAt
    self.lanes = lanes
    self.counts = Dictionary(uniqueKeysWithValues: counts.map { ($0.rawValue, $1) })
    self.stores = stores
    self.spool = spool
    self.spoolTrouble = spoolTrouble
    self.recipes = recipes
    self.sets = sets
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case version, pid
    case startedAt = "started_at"
    case lanes, counts, stores, spool
    case spoolTrouble = "spool_trouble"
    case recipes, sets
  }
}

/// One lane: how many jobs may run in it at once, and how many there are.
package struct LaneStatus: Codable, Sendable, Hashable {
  package var name: String
  package var concurrency: Int
  package var running: Int
  package var available: Int
  package var scheduled: Int
  package var retryable: Int
  /// Whether none of its jobs starts until it is resumed; nil from a daemon that doesn't say it.
  package var isPaused: Bool?
  package var pausedBy: String?
  package var pausedAt: Date?
  /// Until when its rate lets no further job start; nil if it lets one start now.
  package var nextStart: Date?

  /// A lane at one moment.
  package init(
    name: String, concurrency: Int, running: Int = 0, available: Int = 0, scheduled: Int = 0, retryable: Int = 0,
    isPaused: Bool? = nil, pausedBy: String? = nil, pausedAt: Date? = nil, nextStart: Date? = nil
  ) {
    self.name = name
    self.concurrency = concurrency
    self.running = running
    self.available = available
    self.scheduled = scheduled
    self.retryable = retryable
    self.isPaused = isPaused
    self.pausedBy = pausedBy
    self.pausedAt = pausedAt
    self.nextStart = nextStart
  }

  /// A lane's figures.
  package init(_ lane: Lane) {
    func count(_ state: JobState) -> Int { lane.counts[state] ?? 0 }
    self.init(
      name: lane.name, concurrency: lane.concurrency, running: count(.running), available: count(.available),
      scheduled: count(.scheduled), retryable: count(.retryable), isPaused: lane.isPaused, pausedBy: lane.pausedBy,
      pausedAt: lane.pausedAt, nextStart: lane.nextStart)
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case name, concurrency, running, available, scheduled, retryable
    case isPaused = "paused"
    case pausedBy = "paused_by"
    case pausedAt = "paused_at"
    case nextStart = "next_start"
  }
}

/// One data store.
package struct StoreStatus: Codable, Sendable, Hashable {
  package var name: String
  package var path: String
  package var entities: [String]
  package var mainContext: MainContextStatus?

  /// A store and what it holds.
  package init(name: String, path: String, entities: [String], mainContext: MainContextStatus? = nil) {
    self.name = name
    self.path = path
    self.entities = entities
    self.mainContext = mainContext
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case name, path, entities
    case mainContext = "main_context"
  }
}

/// How far a store's main context has merged saves, since the daemon's start.
package struct MainContextStatus: Codable, Sendable, Hashable {
  package var savesMerged: Int64
  /// How long the latest saves waited until they were merged; nil while there were none.
  package var lag: Stats.Spread?
  package var registeredObjects: Int

  /// The state of a main context at one moment.
  package init(savesMerged: Int64, lag: Stats.Spread? = nil, registeredObjects: Int) {
    self.savesMerged = savesMerged
    self.lag = lag
    self.registeredObjects = registeredObjects
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case savesMerged = "saves_merged"
    case lag
    case registeredObjects = "registered_objects"
  }
}

/// Whether the daemon is well, or ready, in the manner of the draft “Health Check Response Format for HTTP APIs”: the answer
/// of `GET /v1/health` and `GET /v1/ready`. Its HTTP status is 503 where ``status`` is `fail`, else 200.
package struct Health: Codable, Sendable, Hashable {
  /// The content type that it is sent as.
  package static let contentType = "application/health+json"

  package enum Status: String, Codable, Sendable, Hashable, CaseIterable {
    case pass
    /// It works, though not as it should.
    case warn
    case fail
  }

  /// One part of the daemon, looked at.
  package struct Check: Codable, Sendable, Hashable {
    package var status: Status
    /// What is wrong with it, in words; nil where nothing is.
    package var output: String?

    package init(_ status: Status, _ output: String? = nil) {
      self.status = status
      self.output = output
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case status, output }
  }

  /// The worst of the checks.
  package var status: Status
  /// The daemon's version.
  package var version: String
  /// What is wrong, in words; nil where nothing is.
  package var output: String?
  /// What was looked at: `main_queue`, `lane:import`, `queue_store`, `recipe:people`, `sets:gtfs`. The draft has a list for
  /// each, here of one.
  package var checks: [String: [Check]]

  /// The same with another check.
  package func adding(_ check: Check, of name: String) -> Health {
    var all = checks.compactMapValues(\.first)
    all[name] = check
    return Health(version: version, checks: all)
  }

  /// What follows from the checks.
  /// - Parameter checks: by the names that people read, such as `the main queue` and `the lane import`.
  package init(version: String, checks: [String: Check]) {
    let troubles = checks.filter { $0.value.status != .pass }.sorted { $0.key < $1.key }
    status = troubles.contains { $0.value.status == .fail } ? .fail : troubles.isEmpty ? .pass : .warn
    self.version = version
    output =
      troubles.isEmpty
      ? nil : troubles.map { name, check in check.output.map { "\(name): \($0)" } ?? name }.joined(separator: "; ")
    self.checks = Dictionary(checks.map { (Self.key(of: $0), [$1]) }) { $0 + $1 }
  }

  /// A name as a key that programs can write without quotes.
  private static func key(of name: String) -> String {
    let words = name.hasPrefix("the ") ? name.dropFirst("the ".count) : name[...]
    for kind in ["lane", "recipe", "saved recipe", "sets"] where words.hasPrefix(kind + " ") {
      return kind.replacing(" ", with: "_") + ":" + words.dropFirst(kind.count + 1)
    }
    return String(words).replacing("'s ", with: "_").replacing(" ", with: "_")
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case status, version, output, checks }
}

/// The version of this source, which daemon and ladectl share.
package enum LadeVersion {
  /// `MAJOR.MINOR.PATCH`.
  package static let current = "0.1.0"
  /// The `Server` header of the daemon's answers, so that a client can say whom it didn't understand.
  package static let serverHeader = "laded/" + current
  /// The header of requests and answers that says the version of who sends it. In requests it may be missing; then the
  /// one in `User-Agent: ladectl/MAJOR.MINOR.PATCH` counts, if there is one.
  package static let header = "Lade-Version"

  /// The first number of a version; nil for what isn't one.
  package static func major(of version: some StringProtocol) -> Int? {
    version.split(separator: ".").first.flatMap { Int($0) }
  }
}
