package import ManagedObjects

/// Has a data store count what helps it to answer fetches the fastest way, by SQLite's ANALYZE: kind `optimise`.
///
/// Imports go on beside it, and wait for a table at most. Stopped or killed, the tables that it has counted stay counted.
package final class OptimiseOperation: JobOperation, @unchecked Sendable {
  // Sendable: it adds nothing to its superclass.

  /// The kind of job that it does.
  package static let kind = "optimise"
  package override class var access: StoreAccess { .shared }

  /// The options of a submission.
  package struct Options: OperationOptions, Equatable {
    /// About how many rows of each index are looked at; 0 for all, which takes as long as reading all indexes does.
    package var sample: Int

    package enum CodingKeys: String, CodingKey, CaseIterable { case sample }

    package init(sample: Int = 1000) { self.sample = sample }

    package init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      sample = try values.decodeIfPresent(Int.self, forKey: .sample) ?? 1000
      guard (0...1_000_000_000).contains(sample) else {
        throw Self.bad("sample is \(sample): it can be from 0, for all, to 1000000000")
      }
    }
  }

  package override class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {
    _ = try Options.read(submission)
  }

  package override func perform() throws -> JobOutcome {
    let options = try Options.read(job.options)
    let store = try maintainedStore()
    return try watched { watch in
      let tables = try store.maintenance.updateStatistics(sampling: options.sample == 0 ? nil : options.sample, watch)
      return .completed(JobProgress(records: Int64(tables)), note: "\(tables) tables were looked at")
    }
  }
}
