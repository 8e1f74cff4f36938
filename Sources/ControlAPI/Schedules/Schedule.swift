package import FoundationEssentials

/// A schedule of the configuration: when which job is made.
package struct Schedule: Codable, Sendable, Hashable {
  package var name: String
  /// When, in systemd's calendar syntax.
  package var calendar: String
  package var timeZone: String?
  /// The kind of job that it makes.
  package var kind: String
  package var lane: String?
  package var store: String?
  package var entity: String?
  package var recipe: String?
  /// Whether a run that was missed is caught up.
  package var isCaughtUp: Bool
  /// When it makes the next job; nil when never again.
  package var nextAt: Date?
  /// When it made the last one, and which.
  package var lastAt: Date?
  package var lastJob: Int64?
  /// Why the last run made none, if it didn't.
  package var note: String?

  /// A schedule at one moment.
  package init(
    name: String, calendar: String, timeZone: String? = nil, kind: String, lane: String? = nil, store: String? = nil,
    entity: String? = nil, recipe: String? = nil, isCaughtUp: Bool = false, nextAt: Date? = nil, lastAt: Date? = nil,
    lastJob: Int64? = nil, note: String? = nil
  ) {
    self.name = name
    self.calendar = calendar
    self.timeZone = timeZone
    self.kind = kind
    self.lane = lane
    self.store = store
    self.entity = entity
    self.recipe = recipe
    self.isCaughtUp = isCaughtUp
    self.nextAt = nextAt
    self.lastAt = lastAt
    self.lastJob = lastJob
    self.note = note
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case name, calendar
    case timeZone = "time_zone"
    case kind, lane, store, entity, recipe
    case isCaughtUp = "catch_up"
    case nextAt = "next_at"
    case lastAt = "last_at"
    case lastJob = "last_job"
    case note
  }
}

/// The schedules: what `GET /v1/schedules` answers.
package struct ScheduleList: Codable, Sendable, Hashable {
  package var schedules: [Schedule]

  package init(schedules: [Schedule]) { self.schedules = schedules }

  package enum CodingKeys: String, CodingKey, CaseIterable { case schedules }
}
