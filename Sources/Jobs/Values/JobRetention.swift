package import Foundation

/// How long jobs that have ended stay in the queue's store.
package struct JobRetention: Sendable, Equatable {
  /// Seconds since their end, by state; a state that isn't there is kept for ever.
  package var age: [JobState: TimeInterval]
  /// How many ended jobs are kept in all, the latest ended first; nil for any number.
  package var count: Int?

  /// A retention; what isn't given is kept for ever.
  package init(age: [JobState: TimeInterval] = [:], count: Int? = nil) {
    self.age = age.filter(\.key.isEnded)
    self.count = count
  }
}
