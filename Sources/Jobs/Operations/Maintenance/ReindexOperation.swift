import ManagedObjects

/// Makes a data store's indexes anew, and those that are missing: kind `reindex`. For a check that found one damaged.
///
/// Imports go on beside it, and wait for an index at most. Stopped or killed, the indexes that it has made stay so.
package final class ReindexOperation: JobOperation, @unchecked Sendable {
  // Sendable: it adds nothing to its superclass.

  /// The kind of job that it does.
  package static let kind = "reindex"
  package override class var access: StoreAccess { .shared }

  /// What a submission may say.
  package struct Options: OperationOptions, Equatable {
    /// The entities whose indexes are meant; nil for all of the file's. The job's own `entity` does, too.
    package var entities: [String]?

    package enum CodingKeys: String, CodingKey, CaseIterable { case entities }

    package init(entities: [String]? = nil) { self.entities = entities }
  }

  package override func perform() throws -> JobOutcome {
    let options = try Options.read(job.options)
    let store = try maintainedStore()
    let names = options.entities ?? job.entity.map { [$0] }
    let entities = try names?.map { name in
      guard let entity = store.store.entities.first(where: { $0.name == name }) else {
        let known = DataEntities.of(store.coordinator.model).map(\.name).sorted().joined(separator: ", ")
        throw JobFailure(
          code: "unknown_entity", message: "\(store.name) has no entity \(name); it has \(known)", isRetryable: false)
      }
      return entity
    }
    return try watched { watch in
      let made = try store.maintenance.reindex(entities, watch)
      return .completed(
        JobProgress(records: Int64(made)), note: made == 1 ? "1 index was made anew" : "\(made) indexes were made anew")
    }
  }
}
