/// The result of a change of many jobs.
package struct JobChangeResult: Codable, Sendable, Hashable {
  /// A job that couldn't be changed, and why.
  package struct Refusal: Codable, Sendable, Hashable {
    package var job: Int64
    package var reason: String

    package init(job: Int64, reason: String) {
      self.job = job
      self.reason = reason
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case job, reason }
  }

  /// The most refusals that are listed.
  package static let mostRefusals = 20

  /// Jobs that were changed.
  package var changed: Int
  /// Jobs that the filter found and that couldn't be changed where they stand.
  package var refused: Int
  /// The first of those.
  package var refusals: [Refusal]

  package init(changed: Int = 0, refused: Int = 0, refusals: [Refusal] = []) {
    self.changed = changed
    self.refused = refused
    self.refusals = refusals
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case changed, refused, refusals }
}
