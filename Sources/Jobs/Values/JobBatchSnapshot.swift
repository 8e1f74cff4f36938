package import Foundation

/// A group of jobs as it stood at one moment.
package struct JobBatchSnapshot: Sendable, Hashable, Codable, Identifiable {
  /// The batch's number, never used again.
  package var id: Int64
  package var name: String?
  package var submittedBy: String
  package var submittedAt: Date
  /// When the last of its jobs ended; nil while some haven't.
  package var endedAt: Date?
  /// All its jobs, those that were pruned included.
  package var total: Int
  /// Its jobs that haven't ended.
  package var pending: Int
  /// Its jobs that ended without having succeeded.
  package var failed: Int
  /// The number of the job that follows them all.
  package var callback: Int64?
  /// How they are to have ended for the callback to run.
  package var condition: JobDependency.Condition
  /// The progress of its jobs, added.
  package var progress: JobProgress
  /// The numbers of its jobs in the order of their submission, where they were asked for: see
  /// ``JobQueue/batch(_:)``.
  package var jobs: [Int64]
}
