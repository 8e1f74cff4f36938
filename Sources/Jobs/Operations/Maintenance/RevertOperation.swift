package import ManagedObjects

/// Takes back the current version of a store's model, which an import has made: kind `revert`. The version before it becomes
/// current, and the store is migrated to it.
///
/// The job has the store to itself. It is refused if values would be lost, unless `force` is given, and if an attribute has got
/// a wider type. Killed at any time, it leaves the store with one of the two versions, and goes on with the next start.
package final class RevertOperation: JobOperation, @unchecked Sendable {
  // Sendable: it adds nothing to its superclass.

  /// The kind of job that it does.
  package static let kind = "revert"
  package override class var access: StoreAccess { .exclusive }
  package override class var replacesContent: Bool { true }

  /// The options of a submission.
  package struct Options: OperationOptions, Equatable {
    /// Whether the values of what is taken back may be lost.
    package var force: Bool

    package enum CodingKeys: CodingKey, CaseIterable { case force }

    package init(force: Bool = false) { self.force = force }

    package init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      force = try values.decodeIfPresent(Bool.self, forKey: .force) ?? false
    }
  }

  package override class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {
    _ = try Options.read(submission)
  }

  package override func perform() throws -> JobOutcome {
    let options = try Options.read(job.options)
    let (name, _) = try namedStore()
    guard let revert = try upkeep(of: name).revert else {
      throw JobFailure(
        code: "unsupported", message: "the model of \(name) isn't one that imports may change", isRetryable: false)
    }
    return try watched { watch in
      let report = try revert(options.force, watch)
      return .completed(
        JobProgress(records: Int64(report.differences.count)),
        note: (report.differences.map(\.description) + report.remarks).joined(separator: "; "))
    }
  }
}
