package import FoundationEssentials

/// A lane: jobs that wait in one line, and of which so many run at once.
package struct Lane: Codable, Sendable, Hashable {
  /// How many jobs may begin in how long.
  package struct Rate: Codable, Sendable, Hashable {
    package var jobs: Int
    package var seconds: Double

    package init(jobs: Int, seconds: Double) {
      self.jobs = jobs
      self.seconds = seconds
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case jobs, seconds }
  }

  package var name: String
  /// How many of its jobs run at once, at most.
  package var concurrency: Int
  /// The same as the configuration says it.
  package var configuredConcurrency: Int
  /// Whether nothing of it is begun until somebody resumes it.
  package var isPaused: Bool
  /// Who paused it, and when.
  package var pausedBy: String?
  package var pausedAt: Date?
  package var rate: Rate?
  /// How many jobs are in each state; a state without jobs may be missing.
  package var counts: [String: Int]
  /// The jobs that run.
  package var running: [Int64]

  /// A lane at one moment.
  package init(
    name: String, concurrency: Int, configuredConcurrency: Int? = nil, isPaused: Bool = false, pausedBy: String? = nil,
    pausedAt: Date? = nil, rate: Rate? = nil, counts: [String: Int] = [:], running: [Int64] = []
  ) {
    self.name = name
    self.concurrency = concurrency
    self.configuredConcurrency = configuredConcurrency ?? concurrency
    self.isPaused = isPaused
    self.pausedBy = pausedBy
    self.pausedAt = pausedAt
    self.rate = rate
    self.counts = counts
    self.running = running
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case name, concurrency
    case configuredConcurrency = "configured_concurrency"
    case isPaused = "paused"
    case pausedBy = "paused_by"
    case pausedAt = "paused_at"
    case rate, counts, running
  }
}

/// The lanes: what `GET /v1/lanes`, `POST /v1/lanes/pause` and `POST /v1/lanes/resume` answer.
package struct LaneList: Codable, Sendable, Hashable {
  package var lanes: [Lane]

  package init(lanes: [Lane]) { self.lanes = lanes }

  package enum CodingKeys: String, CodingKey, CaseIterable { case lanes }
}

/// The body of `PUT /v1/lanes/{lane}/concurrency`.
package struct ConcurrencyChange: Codable, Sendable, Hashable {
  /// How many jobs at once, from 1 to 64; nil for what the configuration says.
  package var concurrency: Int?

  package init(concurrency: Int?) { self.concurrency = concurrency }

  package enum CodingKeys: String, CodingKey, CaseIterable { case concurrency }

  /// Reads one.
  package init(from decoder: any Decoder) throws {
    try decoder.refuseKeys(otherThan: CodingKeys.self)
    let body = try decoder.container(keyedBy: CodingKeys.self)
    guard body.contains(.concurrency) else {
      throw DecodingError.keyNotFound(
        CodingKeys.concurrency, .init(codingPath: decoder.codingPath, debugDescription: "it isn't there"))
    }
    self.init(concurrency: try body.decodeIfPresent(Int.self, forKey: .concurrency))
  }

  /// Writes it; nil as null, for a body must say what it wants.
  package func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: CodingKeys.self)
    try body.encode(concurrency, forKey: .concurrency)
  }
}
