package import FoundationEssentials

/// A lane as it is configured: jobs that share a queue of their own.
package struct LaneConfiguration: Sendable, Hashable {
  /// The lane of jobs that name none.
  package static let defaultName = "import"
  /// The lane of jobs that maintain stores.
  package static let maintenanceName = "maintenance"
  /// The lane of jobs that change others. The queue has it by itself: see ``isBuiltIn``.
  package static let changesName = "changes"
  /// How many jobs of a lane can run at a time.
  package static let concurrencyRange = 1...64

  package var name: String
  /// How many of its jobs run at a time, in one daemon.
  package var concurrency: Int
  /// How many of its jobs all daemons run at a time that share the queue; nil for any number.
  package var globalConcurrency: Int?
  /// How many of its jobs may start in how long; nil for any number.
  package var rate: RateLimit?
  /// Whether no configuration names it. Such a lane isn't listed, and nobody pauses it or submits jobs to it.
  package var isBuiltIn = false

  package init(name: String = LaneConfiguration.defaultName, concurrency: Int = 1, rate: RateLimit? = nil) {
    self.name = name
    self.concurrency = concurrency
    self.rate = rate
  }

  /// Why no lane can be like this; nil if one can.
  package var problem: String? {
    if name == Self.changesName, !isBuiltIn { return "is reserved for jobs that change other jobs" }
    if concurrency < 1 || globalConcurrency ?? 1 < 1 { return "has to run at least one job at a time" }
    if let rate, rate.jobs < 1 || !(rate.period > 0) {
      return "has to let at least one job begin, in a time longer than none"
    }
    return nil
  }
}

/// How many jobs may start in how long: never more than `jobs` in any stretch of `period` seconds.
package struct RateLimit: Codable, Sendable, Hashable {
  package var jobs: Int
  package var period: Double

  /// A limit. Both are positive.
  package init(jobs: Int, period: Double) {
    self.jobs = jobs
    self.period = period
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case jobs
    case period = "seconds"
  }
}

/// What users have set on a lane at run time. It outlives the daemon and takes precedence over the configuration.
package struct LaneSetting: Sendable, Hashable {
  /// Whether none of its jobs starts.
  package var isPaused: Bool
  package var pausedBy: String?
  package var pausedAt: Date?
  /// Nil for the configured one.
  package var concurrency: Int?

  package init(isPaused: Bool = false, pausedBy: String? = nil, pausedAt: Date? = nil, concurrency: Int? = nil) {
    self.isPaused = isPaused
    self.pausedBy = pausedBy
    self.pausedAt = pausedAt
    self.concurrency = concurrency
  }
}

/// A lane at one moment: its configuration, its settings and its jobs.
package struct Lane: Codable, Sendable, Hashable {
  package var configuration: LaneConfiguration
  package var setting: LaneSetting
  /// How many jobs are in each state; a state without jobs may be missing.
  package var counts: [JobState: Int]
  /// The numbers of the jobs that run.
  package var running: [Int64]
  /// Until when the rate lets no further job start; nil if it lets one start now.
  package var nextStart: Date?

  package var name: String { configuration.name }
  /// How many of its jobs run at a time.
  package var concurrency: Int { setting.concurrency ?? configuration.concurrency }
  package var isPaused: Bool { setting.isPaused }
  package var pausedBy: String? { setting.pausedBy }
  package var pausedAt: Date? { setting.pausedAt }

  /// A lane at one moment.
  package init(
    _ configuration: LaneConfiguration, _ setting: LaneSetting = LaneSetting(), counts: [JobState: Int] = [:],
    running: [Int64] = [], nextStart: Date? = nil
  ) {
    self.configuration = configuration
    self.setting = setting
    self.counts = counts.filter { $0.value != 0 }
    self.running = running
    self.nextStart = nextStart
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case name, concurrency
    case configuredConcurrency = "configured_concurrency"
    case isPaused = "paused"
    case pausedBy = "paused_by"
    case pausedAt = "paused_at"
    case rate, counts, running
    case nextStart = "next_start"
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    configuration = LaneConfiguration(
      name: try values.decode(String.self, forKey: .name),
      concurrency: try values.decode(Int.self, forKey: .configuredConcurrency),
      rate: try values.decodeIfPresent(RateLimit.self, forKey: .rate))
    setting = LaneSetting(
      isPaused: try values.decode(Bool.self, forKey: .isPaused),
      pausedBy: try values.decodeIfPresent(String.self, forKey: .pausedBy),
      pausedAt: try values.decodeIfPresent(Date.self, forKey: .pausedAt))
    let concurrency = try values.decode(Int.self, forKey: .concurrency)
    if concurrency != configuration.concurrency { setting.concurrency = concurrency }
    counts = try values.decode([JobState: Int].self, forKey: .counts)
    running = try values.decode([Int64].self, forKey: .running)
    nextStart = try values.decodeIfPresent(Date.self, forKey: .nextStart)
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(name, forKey: .name)
    try values.encode(concurrency, forKey: .concurrency)
    try values.encode(configuration.concurrency, forKey: .configuredConcurrency)
    try values.encodeIfPresent(configuration.rate, forKey: .rate)
    try values.encode(setting.isPaused, forKey: .isPaused)
    try values.encodeIfPresent(setting.pausedBy, forKey: .pausedBy)
    try values.encodeIfPresent(setting.pausedAt, forKey: .pausedAt)
    try values.encode(counts, forKey: .counts)
    try values.encode(running, forKey: .running)
    try values.encodeIfPresent(nextStart, forKey: .nextStart)
  }
}
