import FoundationEssentials
import LadeTypes

/// Which jobs to list: the query of `GET /v1/jobs`.
package struct JobQuery: Sendable, Hashable {
  /// The most that one answer holds.
  package static let maximumLimit = 1000

  package enum Order: String, Sendable, Hashable, CaseIterable { case newest, oldest }

  package var selection: JobSelection
  /// How many at most, newest first; 1 to ``maximumLimit``.
  package var limit: Int
  /// Only jobs with a smaller id.
  package var before: Int64?
  /// Only jobs with a greater id.
  package var after: Int64?
  /// Which come first.
  package var order: Order

  package var states: [JobState] { selection.states }
  package var lane: String? { selection.lane }

  /// A query; without arguments, the newest 100 jobs.
  package init(
    _ selection: JobSelection = JobSelection(), limit: Int = 100, before: Int64? = nil, after: Int64? = nil,
    order: Order = .newest
  ) {
    self.selection = selection
    self.limit = limit
    self.before = before
    self.after = after
    self.order = order
  }

  /// A query by state and lane.
  package init(states: [JobState], lane: String? = nil, limit: Int = 100, before: Int64? = nil) {
    self.init(JobSelection(states: states, lane: lane), limit: limit, before: before)
  }

  /// A query by lane.
  package init(lane: String) { self.init(JobSelection(lane: lane)) }

  /// The parameters that there are.
  package static let parameters = [
    "state", "kind", "lane", "store", "entity", "recipe", "tag", "submitted_by", "unique_key", "batch", "held", "error",
    "file", "since", "limit", "before", "after", "order",
  ]

  /// Reads `state` (several with commas between), the other ``parameters``, and the page.
  /// - Throws: ``QueryError`` for a parameter that isn't one of those, is there twice or isn't what it should be.
  package init(_ query: QueryString) throws {
    try query.refuseNames(otherThan: Self.parameters)
    let states = try query.list("state").map { try $0.asWord(of: JobState.self, in: "state") }
    self.init(
      JobSelection(
        states: states, kind: query["kind"], lane: query["lane"], store: query["store"], entity: query["entity"],
        recipe: query["recipe"], tag: query["tag"], submittedBy: query["submitted_by"], uniqueKey: query["unique_key"],
        batch: try query.integer("batch", in: 0...Int64.max), isHeld: try query.flag("held"), error: query["error"],
        file: query["file"], since: try query["since"].map(Self.time)),
      limit: try query.integer("limit", in: 1...Int64(Self.maximumLimit)).map(Int.init) ?? 100,
      before: try query.integer("before", in: 0...Int64.max), after: try query.integer("after", in: 0...Int64.max),
      order: try query["order"].map { try $0.asWord(of: Order.self, in: "order") } ?? .newest)
  }

  /// Reads a time, or how long ago it was.
  private static func time(_ text: String) throws -> Date {
    if let span = Duration(parsing: text), span > .zero { return Date().addingTimeInterval(-span.seconds) }
    guard let time = WireFormat.date(of: text) else {
      throw QueryError.invalid(
        name: "since", value: text, expected: "a time such as 2026-03-01T12:00:00Z, or how long ago it was, such as 7d")
    }
    return time
  }

  /// The query as it is sent; of ``JobSelection/jobs`` nothing is.
  package var queryString: QueryString {
    var query = QueryString()
    query["state"] = selection.states.isEmpty ? nil : selection.states.map(\.rawValue).joined(separator: ",")
    query["kind"] = selection.kind
    query["lane"] = selection.lane
    query["store"] = selection.store
    query["entity"] = selection.entity
    query["recipe"] = selection.recipe
    query["tag"] = selection.tag
    query["submitted_by"] = selection.submittedBy
    query["unique_key"] = selection.uniqueKey
    query["batch"] = selection.batch.map { String($0) }
    query["held"] = selection.isHeld.map { $0 ? "true" : "false" }
    query["error"] = selection.error
    query["file"] = selection.file
    query["since"] = selection.since.map { WireFormat.text(of: $0) }
    query["limit"] = String(limit)
    query["before"] = before.map { String($0) }
    query["after"] = after.map { String($0) }
    query["order"] = order == .newest ? nil : order.rawValue
    return query
  }
}

/// Some of the jobs, in the order that was asked for.
package struct JobList: Codable, Sendable, Hashable {
  package var jobs: [Job]
  /// Where the others go on: the next query's `before`, or its `after` where the oldest came first. Nil when these were
  /// the last.
  package var next: Int64?

  /// One answer's jobs, and where to go on.
  package init(jobs: [Job], next: Int64? = nil) {
    self.jobs = jobs
    self.next = next
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case jobs, next }
}
