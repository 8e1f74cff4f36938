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
