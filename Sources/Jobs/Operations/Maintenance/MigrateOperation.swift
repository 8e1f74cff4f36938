package import ManagedObjects

/// Migrates a data store to the model that its configuration's path holds now, and has the daemon use that from then on: kind
/// `migrate`. So a model can be changed without stopping the daemon.
///
/// It takes the store alone. A migration that would lose something is refused, unless the configuration allows it, and one
/// after which a recipe couldn't be followed is, too: as at the daemon's start. Stopped or killed, the store is as it was,
/// or migrated.
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
    _ = try Options.read(submission.options)
  }

  package override func perform() throws -> JobOutcome {
    _ = try Options.read(job.options)
    let (name, _) = try namedStore()
    guard let migrate = try upkeep(of: name).migrate else {
      throw JobFailure(code: "unsupported", message: "nobody can migrate \(name) while it is used", isRetryable: false)
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
  /// Every entity in which the models differ; none if the store has the present model already.
  package var differences: [VersionDifference]
  /// Other remarks.
  package var remarks: [String]

  package init(differences: [VersionDifference], remarks: [String] = []) {
    self.differences = differences
    self.remarks = remarks
  }
}
