package import FoundationEssentials

/// A schedule of the configuration: when which job is made.
package struct Schedule: Codable, Sendable, Hashable {
  /// What becomes of runs that are missed because no daemon was there.
  package enum CatchUp: String, Codable, Sendable, Hashable, CaseIterable {
    /// One job is made for all of them.
    case once
    /// None is.
    case skip
  }

  package var name: String
  /// The kind of job that it makes.
  package var kind: String
  /// When: expressions in systemd's calendar syntax.
  package var calendar: [String]
  /// The zones of these expressions.
  package var timeZones: [String]
  package var catchUp: CatchUp
  package var isEnabled: Bool
  /// When it makes the next job; nil when never again.
  package var nextAt: Date?
  /// When it was due last.
  package var lastAt: Date?
  /// What came of that, in words.
  package var lastOutcome: String?
  /// The job that it made last.
  package var lastJob: Int64?
  package var lastState: JobState?
  /// Who has paused it; nil while it isn't paused.
  package var pausedBy: String?
  package var pausedAt: Date?
  /// The last jobs that it made and that are still kept, the latest first: at most ``mostRecent``.
  package var recent: [ScheduledJob]

  /// The most jobs of a schedule that are listed with it.
  package static let mostRecent = 20

  /// A schedule at one moment.
  package init(
    name: String, kind: String, calendar: [String], timeZones: [String] = [], catchUp: CatchUp = .once,
    isEnabled: Bool = true, nextAt: Date? = nil, lastAt: Date? = nil, lastOutcome: String? = nil,
    lastJob: Int64? = nil, lastState: JobState? = nil, pausedBy: String? = nil, pausedAt: Date? = nil,
    recent: [ScheduledJob] = []
  ) {
    self.name = name
    self.kind = kind
    self.calendar = calendar
    self.timeZones = timeZones
    self.catchUp = catchUp
    self.isEnabled = isEnabled
    self.nextAt = nextAt
    self.lastAt = lastAt
    self.lastOutcome = lastOutcome
    self.lastJob = lastJob
    self.lastState = lastState
    self.pausedBy = pausedBy
    self.pausedAt = pausedAt
    self.recent = recent
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case name, kind, calendar
    case timeZones = "time_zones"
    case catchUp = "catch_up"
    case isEnabled = "enabled"
    case nextAt = "next_at"
    case lastAt = "last_at"
    case lastOutcome = "last_outcome"
    case lastJob = "last_job"
    case lastState = "last_state"
    case pausedBy = "paused_by"
    case pausedAt = "paused_at"
    case recent
  }
}

/// A job that a schedule made.
package struct ScheduledJob: Codable, Sendable, Hashable {
  package var id: Int64
  package var state: JobState
  /// How long its last attempt took, in seconds; nil while it hasn't ended, or if it never began.
  package var seconds: Double?

  /// A job at one moment.
  package init(id: Int64, state: JobState, seconds: Double? = nil) {
    self.id = id
    self.state = state
    self.seconds = seconds
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case id, state, seconds }
}
