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
  /// Whether to go on with what is logged from now on, as server-sent events, after the lines that there are.
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
