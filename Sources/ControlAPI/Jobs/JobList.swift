/// Some of the jobs, in the order that was asked for.
package struct JobList: Codable, Sendable, Hashable {
  package var jobs: [Job]
  /// Where the others go on: the next query's `before`, or its `after` where the oldest came first. Nil when these were
  /// the last.
  package var next: Int64?

  /// One answer's jobs, and where to go on.
  package init(jobs: [Job], next: Int64? = nil) {
    self.jobs = jobs
    self.next = next
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case jobs, next }
}
