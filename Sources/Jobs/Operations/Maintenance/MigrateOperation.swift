package import ManagedObjects

/// Migrates a data store to the model that its configuration's path holds now, without stopping the daemon: kind `migrate`.
///
/// The job has the store to itself. As at the daemon's start, it refuses a migration that loses data without permission from the
/// configuration, and one that would break a recipe. When it is stopped or killed, the store is either unchanged or migrated.
package final class MigrateOperation: JobOperation, @unchecked Sendable {
  // Sendable: it adds nothing to its superclass.

  /// The kind of job that it does.
  package static let kind = "migrate"
  package override class var access: StoreAccess { .exclusive }
  package override class var replacesContent: Bool { true }

  /// It takes none.
  package struct Options: OperationOptions, Equatable {
    package enum CodingKeys: CodingKey, CaseIterable {}
    package init() {}
  }

  package override class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {
    _ = try Options.read(submission)
  }

  package override func perform() throws -> JobOutcome {
    _ = try Options.read(job.options)
    let (name, _) = try namedStore()
    guard let migrate = try upkeep(of: name).migrate else {
      throw JobFailure(code: "unsupported", message: "\(name) can't be migrated while it is in use", isRetryable: false)
    }
    return try watched { watch in
      let report = try migrate(watch)
      var notes = report.differences.map(\.description)
      if notes.isEmpty { notes = ["the store has the model's present version"] }
      return .completed(
        JobProgress(records: Int64(report.differences.count)), note: (notes + report.remarks).joined(separator: "; "))
    }
  }
}

/// The result of a migration.
package struct MigrationReport: Sendable, Equatable {
  /// The entities in which the models differ; none if the store already has the current model.
  package var differences: [VersionDifference]
  /// Other remarks.
  package var remarks: [String]

  package init(differences: [VersionDifference], remarks: [String] = []) {
    self.differences = differences
    self.remarks = remarks
  }
}
