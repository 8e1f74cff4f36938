package import FoundationEssentials

/// One line of the daemon's log.
package struct LogLine: Codable, Sendable, Hashable {
  /// Its number since the daemon's start, from 1.
  package var number: Int64
  package var at: Date
  package var level: LogLevel
  package var message: String
  /// The job that it is about, if it is about one.
  package var job: Int64?
  /// What else belongs to it.
  package var metadata: [String: String]

  package init(
    number: Int64, at: Date, level: LogLevel, message: String, job: Int64? = nil, metadata: [String: String] = [:]
  ) {
    self.number = number
    self.at = at
    self.level = level
    self.message = message
    self.job = job
    self.metadata = metadata
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case number, at, level, message, job, metadata }
}

/// How grave a log line is, from the least to the most.
package enum LogLevel: String, Codable, Sendable, Hashable, CaseIterable, Comparable {
  case trace, debug, info, notice, warning, error, critical

  package static func < (a: Self, b: Self) -> Bool { a.rank < b.rank }

  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// The daemon's last log lines, oldest first: what `GET /v1/log` answers.
package struct LogPage: Codable, Sendable, Hashable {
  package var lines: [LogLine]

  package init(lines: [LogLine]) { self.lines = lines }

  package enum CodingKeys: String, CodingKey, CaseIterable { case lines }
}

extension LogLine {
  /// Keys that only classify a line. Its message repeats them where they matter.
  private static let sorting: Set<String> = [
    "lane", "store", "entity", "kind", "recipe", "schedule", "state", "event",
  ]

  /// What belongs to the line and its message doesn't say, as `key=value`, in the order of the keys.
  package var facts: [String] { Self.facts(message, job: job.map { "\($0)" }, metadata) }

  /// The same of a message that isn't a line yet.
  package static func facts(_ message: String, job: String?, _ metadata: [String: String]) -> [String] {
    let others = metadata.filter { $0.key != "job" && !sorting.contains($0.key) }.sorted { $0.key < $1.key }
      .map { "\($0.key)=\($0.value)" }
    guard let job, !message.hasPrefix("job \(job):") else { return others }
    return ["job=\(job)"] + others
  }
}

/// An event on the stream of the daemon's log.
package enum LogEvent: Sendable, Hashable {
  case line(LogLine)
  /// So much was logged while the client didn't read that some was left out; the stream ends here.
  case lagged

  /// The event as it is sent.
  package func serverSentEvent() throws -> ServerSentEvent {
    switch self {
    case .line(let line): try ServerSentEvent(name: "line", json: line)
    case .lagged: ServerSentEvent(name: "lagged", data: "{}")
    }
  }

  /// The event that was sent; nil for a type that this version doesn't know, which a client passes over.
  /// - Throws: `DecodingError`.
  package init?(_ event: ServerSentEvent) throws {
    switch event.name {
    case "line": self = .line(try WireFormat.decode(LogLine.self, from: Data(event.data.utf8)))
    case "lagged": self = .lagged
    default: return nil
    }
  }
}

/// Which log lines: the query of `GET /v1/log`.
package struct LogQuery: Sendable, Hashable {
  /// The most that one answer holds.
  package static let maximumLimit = 2000

  /// Only lines about this job.
  package var job: Int64?
  /// Only lines of this level or a graver one.
  package var level: LogLevel?
  /// Only lines after the one of this number.
  package var after: Int64?
  /// How many at most, the newest of them; 0 to ``maximumLimit``.
  package var limit: Int
  /// Whether new lines follow the present ones, as server-sent events.
  package var follows: Bool

  /// A query; without arguments, the last hundred lines.
  package init(
    job: Int64? = nil, level: LogLevel? = nil, after: Int64? = nil, limit: Int = 100, follows: Bool = false
  ) {
    self.job = job
    self.level = level
    self.after = after
    self.limit = limit
    self.follows = follows
  }

  /// Reads `job`, `level`, `after`, `limit` and `follow`.
  /// - Throws: ``QueryError``.
  package init(_ query: QueryString) throws {
    try query.refuseNames(otherThan: ["job", "level", "after", "limit", "follow"])
    self.init(
      job: try query.integer("job", in: 0...Int64.max),
      level: try query["level"].map { try $0.asWord(of: LogLevel.self, in: "level") },
      after: try query.integer("after", in: 0...Int64.max),
      limit: try query.integer("limit", in: 0...Int64(Self.maximumLimit)).map(Int.init) ?? 100,
      follows: try query.flag("follow") ?? false)
  }

  /// Whether a line is one of these, whatever their number.
  package func matches(_ line: LogLine) -> Bool {
    (job == nil || line.job == job) && (level.map { line.level >= $0 } ?? true) && line.number > after ?? 0
  }

  /// The query as it is sent.
  package var queryString: QueryString {
    var query = QueryString()
    query["job"] = job.map { String($0) }
    query["level"] = level?.rawValue
    query["after"] = after.map { String($0) }
    query["limit"] = String(limit)
    query["follow"] = follows ? "true" : nil
    return query
  }
}
