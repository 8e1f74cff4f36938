/// Which jobs to list: the query of `GET /v1/jobs`.
package struct JobQuery: Sendable, Hashable {
  /// The most that one answer holds.
  package static let maximumLimit = 1000

  /// Only jobs in one of these; empty for all.
  package var states: [JobState]
  package var lane: String?
  /// How many at most, newest first; 1 to ``maximumLimit``.
  package var limit: Int
  /// Only jobs with a smaller id.
  package var before: Int64?

  /// A query; without arguments, the newest 100 jobs.
  package init(states: [JobState] = [], lane: String? = nil, limit: Int = 100, before: Int64? = nil) {
    self.states = states
    self.lane = lane
    self.limit = limit
    self.before = before
  }

  /// Reads `state` (several with commas between), `lane`, `limit` and `before`.
  /// - Throws: ``QueryError`` for a parameter that isn't one of those, is there twice or isn't what it should be.
  package init(_ query: QueryString) throws {
    try query.refuseNames(otherThan: ["state", "lane", "limit", "before"])
    self.init(
      states: try query.list("state").map { name in
        guard let state = JobState(rawValue: name) else {
          throw QueryError.invalid(
            name: "state", value: name,
            expected: "one of " + JobState.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return state
      },
      lane: query["lane"],
      limit: try query.integer("limit", in: 1...Int64(Self.maximumLimit)).map(Int.init) ?? 100,
      before: try query.integer("before", in: 0...Int64.max))
  }

  /// The query as it is sent.
  package var queryString: QueryString {
    var query = QueryString()
    query["state"] = states.isEmpty ? nil : states.map(\.rawValue).joined(separator: ",")
    query["lane"] = lane
    query["limit"] = String(limit)
    query["before"] = before.map { String($0) }
    return query
  }
}
