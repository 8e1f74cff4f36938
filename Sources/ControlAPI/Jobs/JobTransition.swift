package import FoundationEssentials

/// One step of a job from state to state, as the queue recorded it.
package struct JobTransition: Codable, Sendable, Hashable {
  package var at: Date
  /// The state before; nil for the first one.
  package var from: JobState?
  package var to: JobState
  /// Why, in words.
  package var reason: String
  /// Who caused it, where that was a person: a user's name or number.
  package var by: String?

  /// A step as it was recorded.
  package init(at: Date, from: JobState?, to: JobState, reason: String, by: String? = nil) {
    self.at = at
    self.from = from
    self.to = to
    self.reason = reason
    self.by = by
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case at, from, to, reason, by }
}
