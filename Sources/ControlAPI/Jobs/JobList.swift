/// Some of the jobs, newest first.
package struct JobList: Codable, Sendable, Hashable {
  package var jobs: [Job]
  /// Where the older ones go on: the next query's `before`. Nil when these were the last.
  package var next: Int64?

  /// One answer's jobs, and where to go on.
  package init(jobs: [Job], next: Int64? = nil) {
    self.jobs = jobs
    self.next = next
  }
}
