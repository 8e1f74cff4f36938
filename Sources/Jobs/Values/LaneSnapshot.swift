package import Foundation

/// A lane as it is at one moment.
package struct LaneSnapshot: Sendable, Hashable, Codable {
  package var name: String
  /// How many of its jobs run at a time, at most.
  package var concurrency: Int
  /// What the configuration says of that.
  package var configuredConcurrency: Int
  /// Whether none of its jobs begins.
  package var isPaused: Bool
  package var pausedBy: String?
  package var pausedAt: Date?
  /// How many of its jobs may begin in how long.
  package var rate: RateLimit?
  /// How many jobs it has in each state.
  package var counts: [JobState: Int]
  /// The numbers of the jobs that run.
  package var running: [Int64]
}
