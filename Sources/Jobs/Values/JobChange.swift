/// What may be done to many jobs at once.
package enum JobChange: Sendable, Equatable {
  case cancel, retry, hold, release, remove
  case priority(Int)
}

/// What became of a change of many jobs.
package struct BulkResult: Sendable, Equatable {
  /// A job that it couldn't happen to, and why.
  package struct Refusal: Sendable, Equatable {
    package var job: Int64
    package var why: String
  }

  /// The most refusals that are told.
  package static let refusalsTold = 20

  /// How many jobs it happened to.
  package var changed = 0
  /// How many jobs it couldn't happen to.
  package var refused = 0
  /// The first of these, with why.
  package var refusals: [Refusal] = []
}
