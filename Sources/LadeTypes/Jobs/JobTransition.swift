public import FoundationEssentials

/// One step of a job from state to state, as the queue recorded it.
public struct JobTransition: Codable, Sendable, Hashable {
  /// When.
  public var at: Date
  /// The state before; nil for the submission.
  public var from: JobState?
  /// The state after.
  public var to: JobState
  /// Why, in words.
  public var reason: String
  /// Who caused it; nil for the queue itself.
  public var by: String?

  package init(at: Date, from: JobState?, to: JobState, reason: String, by: String? = nil) {
    self.at = at
    self.from = from
    self.to = to
    self.reason = reason
    self.by = by
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case at, from, to, reason, by }
}
