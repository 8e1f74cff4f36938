package import Foundation

/// How many jobs may begin in how long: never more than `jobs` in any stretch of `period` seconds.
package struct RateLimit: Sendable, Hashable, Codable {
  package var jobs: Int
  package var period: TimeInterval

  /// A limit. Both are positive.
  package init(jobs: Int, period: TimeInterval) {
    self.jobs = jobs
    self.period = period
  }
}
