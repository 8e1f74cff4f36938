package import ManagedObjects

/// Rebuilds the indexes of a data store and creates missing ones: kind `reindex`. For a store with a damaged index.
///
/// Imports continue, and wait for one index at most. When the job is stopped or killed, rebuilt indexes stay.
package final class ReindexOperation: JobOperation, @unchecked Sendable {
  // Sendable: it adds nothing to its superclass.

  /// The kind of job that it does.
  package static let kind = "reindex"
  package override class var access: StoreAccess { .shared }

  /// The options of a submission.
  package struct Options: OperationOptions, Equatable {
    /// The entities whose indexes are rebuilt; nil for all of the file. The job's `entity` can name one, too.
    package var entities: [String]?

    package enum CodingKeys: String, CodingKey, CaseIterable { case entities }

    package init(entities: [String]? = nil) { self.entities = entities }
  }

  package override class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {
    _ = try entities(try Options.read(submission), submission.entity, of: model, submission.store ?? "")
  }

  /// The entities whose indexes are rebuilt; nil for all of the file.
  private static func entities(
    _ options: Options, _ one: String?, of model: ManagedObjectModel, _ store: String
  ) throws -> [EntityDescription]? {
    try (options.entities ?? one.map { [$0] })?.map { name in
      guard let entity = model.entitiesByName[name] else {
        let known = DataEntities.of(model).map(\.name).sorted().joined(separator: ", ")
        throw JobFailure(
          code: "unknown_entity", message: "\(store) has no entity \(name); it has \(known)", isRetryable: false)
      }
      return entity
    }
  }

  package override func perform() throws -> JobOutcome {
    let options = try Options.read(job.options)
    let store = try maintainedStore()
    let entities = try Self.entities(options, job.entity, of: store.coordinator.model, store.name)
    return try watched { watch in
      let made = try store.maintenance.rebuildIndexes(entities, watch)
      return .completed(
        JobProgress(records: Int64(made)), note: made == 1 ? "1 index was rebuilt" : "\(made) indexes were rebuilt")
    }
  }
}
