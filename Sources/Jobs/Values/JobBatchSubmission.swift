/// A group of jobs that is submitted as one: all of them or none.
package struct JobBatchSubmission: Sendable, Equatable {
  /// One job of the group.
  package struct Member: Sendable, Equatable {
    package var submission: JobSubmission
    /// What others of the group call it.
    package var name: String?
    /// The names of those that it follows, beside the jobs that its submission names.
    package var after: [String: JobDependency.Condition]

    /// A job of the group, which follows none of it where none is given.
    package init(_ submission: JobSubmission, name: String? = nil, after: [String: JobDependency.Condition] = [:]) {
      self.submission = submission
      self.name = name
      self.after = after
    }
  }

  /// The most jobs that a group is submitted with; more can be put into it later.
  package static let largest = 10_000

  /// For people.
  package var name: String?
  package var members: [Member]
  /// A job that runs after them all. It isn't one of the group.
  package var callback: JobSubmission?
  /// How they are to have ended for the callback to run. When some have failed and all are to succeed, it waits until
  /// these were retried, and succeeded.
  package var condition: JobDependency.Condition
  package var submittedBy: String

  /// A group of jobs.
  package init(
    name: String? = nil, members: [Member], callback: JobSubmission? = nil,
    condition: JobDependency.Condition = .succeeded, submittedBy: String
  ) {
    self.name = name
    self.members = members
    self.callback = callback
    self.condition = condition
    self.submittedBy = submittedBy
  }
}
