package import Foundation

/// How long a job waits between attempts: exponentially longer, spread so that many jobs that failed together don't
/// come back together.
package struct Backoff: Sendable, Equatable {
  /// Seconds after the first failure.
  package var first: TimeInterval
  /// Seconds at most, before the spread.
  package var longest: TimeInterval
  /// The part of the delay by which it is spread in both directions, from 0 to 1.
  package var spread: Double

  /// Ten seconds, twenty, forty, … up to an hour, each spread by a fifth.
  package init(first: TimeInterval = 10, longest: TimeInterval = 3600, spread: Double = 0.2) {
    self.first = first
    self.longest = longest
    self.spread = spread
  }

  /// Seconds to wait after the failure of attempt `attempt`, the first being 1.
  /// - Parameter random: from 0 up to 1.
  package func delay(afterAttempt attempt: Int, random: Double) -> TimeInterval {
    let exponent = Double(max(0, min(attempt - 1, 64)))
    return min(longest, first * pow(2, exponent)) * (1 + spread * (2 * random - 1))
  }
}
